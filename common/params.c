#include "common/params.h"

int params_count(const ModelConfig *config) {
    return MODEL_PARAMS + config->L * BLOCK_PARAMS;
}

static Param describe(const char *name, int layer, int rows, int cols, ParamInit init) {
    return (Param){.name = name,
                   .layer = layer,
                   .rows = rows,
                   .cols = cols,
                   .count = (size_t)rows * (size_t)cols,
                   .init = init};
}

void params_describe(Param *params, const ModelConfig *config) {
    int V = config->V, T = config->T, C = config->C, layer = -1;
#define DESCRIBE(id, name, rows, cols, init) *params++ = describe(name, layer, rows, cols, init);
    EACH_MODEL_PARAM(DESCRIBE)
    for (layer = 0; layer < config->L; layer++) {
        EACH_BLOCK_PARAM(DESCRIBE)
    }
#undef DESCRIBE
}
