/* The list of a model's parameters, from one table: the contract is in params.h. */
#include "common/params.h"

#include "kernels/tensors.h"

/* X(id, name in a file, rows, columns, start). A vector has 1 row. GPT-2's files store the matrices
   of a block the other way round. A is C, and F is 4 C, or a rank's share of them: the channels of
   its heads, the columns of its MLP. */
#define EACH_MODEL_PARAM(X)                                                                        \
    X(WTE, "wte.weight", V, C, INIT_NORMAL)                                                        \
    X(WPE, "wpe.weight", T, C, INIT_NORMAL)                                                        \
    X(LNF_WEIGHT, "ln_f.weight", 1, C, INIT_ONE)                                                   \
    X(LNF_BIAS, "ln_f.bias", 1, C, INIT_ZERO)

/* Of each block; in a file "h.<layer>." stands before the name. */
#define EACH_BLOCK_PARAM(X)                                                                        \
    X(LN1_WEIGHT, "ln_1.weight", 1, C, INIT_ONE)                                                   \
    X(LN1_BIAS, "ln_1.bias", 1, C, INIT_ZERO)                                                      \
    X(QKV_WEIGHT, "attn.c_attn.weight", 3 * A, C, INIT_NORMAL)                                     \
    X(QKV_BIAS, "attn.c_attn.bias", 1, 3 * A, INIT_ZERO)                                           \
    X(PROJ_WEIGHT, "attn.c_proj.weight", C, A, INIT_RESIDUAL)                                      \
    X(PROJ_BIAS, "attn.c_proj.bias", 1, C, INIT_ZERO)                                              \
    X(LN2_WEIGHT, "ln_2.weight", 1, C, INIT_ONE)                                                   \
    X(LN2_BIAS, "ln_2.bias", 1, C, INIT_ZERO)                                                      \
    X(FC_WEIGHT, "mlp.c_fc.weight", F, C, INIT_NORMAL)                                             \
    X(FC_BIAS, "mlp.c_fc.bias", 1, F, INIT_ZERO)                                                   \
    X(FCPROJ_WEIGHT, "mlp.c_proj.weight", C, F, INIT_RESIDUAL)                                     \
    X(FCPROJ_BIAS, "mlp.c_proj.bias", 1, C, INIT_ZERO)

/* As many as there are ids. */
#define ONE(id, name, rows, cols, init) +1
_Static_assert(EACH_MODEL_PARAM(ONE) == MODEL_PARAMS, "a parameter of the model");
_Static_assert(EACH_BLOCK_PARAM(ONE) == BLOCK_PARAMS, "a parameter of a block");
#undef ONE

int params_count(const ModelConfig *config) {
    return MODEL_PARAMS + config->L * BLOCK_PARAMS;
}

size_t params_length(const ModelConfig *config) {
    int V = config->V, T = config->T, C = config->C, A = C, F = 4 * C;
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
                   .init = init,
                   .whole = (size_t)rows * (size_t)cols};
}

void params_describe(Param *params, const ModelConfig *config) {
    params_describe_shard(params, config, 1);
}

void params_describe_shard(Param *params, const ModelConfig *config, int shards) {
    CHECK(shards >= 1 && config->NH % shards == 0, "%d heads in %d shards", config->NH, shards);
    int V = config->V, T = config->T, C = config->C, layer = -1;
    int A, F; /* columns of a rank's heads, and of its MLP */
#define DESCRIBE(id, name, rows, cols, init) params[id] = describe(name, layer, rows, cols, init);
#define WHOLE(id, name, rows, cols, init) params[id].whole = (size_t)(rows) * (size_t)(cols);
    EACH_MODEL_PARAM(DESCRIBE)
    params += MODEL_PARAMS;
    for (layer = 0; layer < config->L; layer++, params += BLOCK_PARAMS) {
        A = C / shards;
        F = 4 * A;
        EACH_BLOCK_PARAM(DESCRIBE)
        A = C;
        F = 4 * C;
        EACH_BLOCK_PARAM(WHOLE)
    }
#undef WHOLE
#undef DESCRIBE
}

/* ---- adapters -------------------------------------------------------------------------------- */

static const char *const adapter_names[BLOCK_LINEARS][2] = {
    [LINEAR_QKV] = {"attn.c_attn.lora_A.weight", "attn.c_attn.lora_B.weight"},
    [LINEAR_PROJ] = {"attn.c_proj.lora_A.weight", "attn.c_proj.lora_B.weight"},
    [LINEAR_FC] = {"mlp.c_fc.lora_A.weight", "mlp.c_fc.lora_B.weight"},
    [LINEAR_FCPROJ] = {"mlp.c_proj.lora_A.weight", "mlp.c_proj.lora_B.weight"},
};

static int targets_of(const ModelConfig *config) {
    int count = 0;
    for (int id = 0; id < BLOCK_LINEARS; id++) {
        count += config->adapter.targets >> id & 1;
    }
    return count;
}

int adapters_count(const ModelConfig *config) {
    return config->adapter.rank > 0 ? 2 * config->L * targets_of(config) : 0;
}

void adapters_describe(Param *params, const ModelConfig *config) {
    const Adapter *adapter = &config->adapter;
    int C = config->C;
    const int in[BLOCK_LINEARS] = {C, C, C, 4 * C}, out[BLOCK_LINEARS] = {3 * C, C, 4 * C, C};
    for (int layer = 0; layer < config->L && adapter->rank > 0; layer++) {
        for (int id = 0; id < BLOCK_LINEARS; id++) {
            const char *const *name = adapter_names[id];
            if (!(adapter->targets >> id & 1)) {
                continue;
            }
            *params++ = describe(name[0], layer, adapter->rank, in[id], INIT_ADAPTER);
            *params++ = describe(name[1], layer, out[id], adapter->rank, INIT_ADAPTER);
        }
    }
}

Real *param_weight(const Param *param) {
    CHECK(param->weight != NULL, "\"%s\" of layer %d is not here: model_put_weights() comes first",
          param->name, param->layer);
    return param->weight;
}

float *param_grad(const Param *param) {
    if (param->frozen) {
        return NULL;
    }
    CHECK(param->grad != NULL,
          "the gradient of \"%s\" of layer %d is not here: model_put_grads() comes first",
          param->name, param->layer);
    return param->grad;
}
