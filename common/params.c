/* The list of a model's parameters, from the one table in params.h: the contract is there. */
#include "common/params.h"

#include "kernels/tensors.h"

int params_count(const ModelConfig *config) {
    return MODEL_PARAMS + config->L * BLOCK_PARAMS;
}

size_t params_length(const ModelConfig *config) {
    int V = config->V, T = config->T, C = config->C;
    size_t outside = 0, block = 0;
#define ADD_OUTSIDE(id, name, rows, cols, init)                                                    \
    outside += tensor_indices((size_t)(rows) * (size_t)(cols));
#define ADD_BLOCK(id, name, rows, cols, init)                                                      \
    block += tensor_indices((size_t)(rows) * (size_t)(cols));
    EACH_MODEL_PARAM(ADD_OUTSIDE)
    EACH_BLOCK_PARAM(ADD_BLOCK)
#undef ADD_OUTSIDE
#undef ADD_BLOCK
    return outside + (size_t)config->L * block;
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
