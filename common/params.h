/**
 * @file params.h
 * @brief The parameters of a GPT-2, said once: name, shape, start value, place in a file.
 * @ingroup common
 *
 * Everything else that needs the list (weights, gradients, optimizer states, files, the reference
 * of the grader) is made from this one.
 */
#ifndef COMMON_PARAMS_H
#define COMMON_PARAMS_H

#include <stdbool.h>

#include "common/config.h"

/** How a parameter starts. */
typedef enum ParamInit {
    INIT_ZERO,     /**< biases */
    INIT_ONE,      /**< scales of layer norms */
    INIT_NORMAL,   /**< N(0, 0.02^2) */
    INIT_RESIDUAL, /**< N(0, (0.02 / sqrt(2L))^2): 2L of these are added to the residual stream */
} ParamInit;

/**
 * The parameters of a model: X(id, name in a file, rows, columns, start).
 *
 * A vector has 1 row. Matrices are stored (output, input); GPT-2's files store those of a block the
 * other way round.
 */
#define EACH_MODEL_PARAM(X)                                                                        \
    X(WTE, "wte.weight", V, C, INIT_NORMAL)                                                        \
    X(WPE, "wpe.weight", T, C, INIT_NORMAL)                                                        \
    X(LNF_WEIGHT, "ln_f.weight", 1, C, INIT_ONE)                                                   \
    X(LNF_BIAS, "ln_f.bias", 1, C, INIT_ZERO)

/** The parameters of each block; in a file "h.<layer>." stands before the name. */
#define EACH_BLOCK_PARAM(X)                                                                        \
    X(LN1_WEIGHT, "ln_1.weight", 1, C, INIT_ONE)                                                   \
    X(LN1_BIAS, "ln_1.bias", 1, C, INIT_ZERO)                                                      \
    X(QKV_WEIGHT, "attn.c_attn.weight", 3 * C, C, INIT_NORMAL)                                     \
    X(QKV_BIAS, "attn.c_attn.bias", 1, 3 * C, INIT_ZERO)                                           \
    X(PROJ_WEIGHT, "attn.c_proj.weight", C, C, INIT_RESIDUAL)                                      \
    X(PROJ_BIAS, "attn.c_proj.bias", 1, C, INIT_ZERO)                                              \
    X(LN2_WEIGHT, "ln_2.weight", 1, C, INIT_ONE)                                                   \
    X(LN2_BIAS, "ln_2.bias", 1, C, INIT_ZERO)                                                      \
    X(FC_WEIGHT, "mlp.c_fc.weight", 4 * C, C, INIT_NORMAL)                                         \
    X(FC_BIAS, "mlp.c_fc.bias", 1, 4 * C, INIT_ZERO)                                               \
    X(FCPROJ_WEIGHT, "mlp.c_proj.weight", C, 4 * C, INIT_RESIDUAL)                                 \
    X(FCPROJ_BIAS, "mlp.c_proj.bias", 1, C, INIT_ZERO)

/** Index of a parameter of the model. */
typedef enum ModelParamId {
/** @cond */
#define PARAM_ID(id, name, rows, cols, init) id,
    /** @endcond */
    EACH_MODEL_PARAM(PARAM_ID) MODEL_PARAMS /**< how many */
} ModelParamId;

/** Index of a parameter within its block. */
typedef enum BlockParamId {
    EACH_BLOCK_PARAM(PARAM_ID) BLOCK_PARAMS /**< how many */
#undef PARAM_ID
} BlockParamId;

/** One parameter: a matrix or a vector. */
typedef struct Param {
    const char *name; /**< as in a file, without "h.<layer>." */
    int layer;        /**< block, or -1 */
    int rows;         /**< shape; a vector has 1 row */
    int cols;         /**< shape */
    size_t count;     /**< rows * cols */
    ParamInit init;   /**< start value */
    Real *weight;     /**< (rows, cols), device memory */
    float *grad;      /**< (rows, cols), device memory: backward adds here */
} Param;

/** Parameters that a model of this shape has: MODEL_PARAMS + L * BLOCK_PARAMS. */
int params_count(const ModelConfig *config);

/** Length of the flat index over all parameters, in their order (kernels/tensors.h). */
size_t params_length(const ModelConfig *config);

/**
 * Fills in everything but the memory. The order is that of the model, then block after block:
 * parameter `id` of block l is params[MODEL_PARAMS + l * BLOCK_PARAMS + id].
 *
 * @param[out] params (params_count(config)); weight and grad are NULL
 * @param      config the shape
 */
void params_describe(Param *params, const ModelConfig *config);

/**
 * Whether a parameter is a matrix, even one with a single row: weight decay pulls on these. Only
 * matrices start from random numbers.
 */
static inline bool param_is_matrix(const Param *param) {
    return param->init == INIT_NORMAL || param->init == INIT_RESIDUAL;
}

#endif
