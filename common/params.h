/**
 * @file params.h
 * @brief The parameters of a GPT-2: name, shape, start value, place in a file.
 * @ingroup common
 *
 * Everything that needs the list (weights, gradients, optimizer states, files, the reference of the
 * grader) asks params_describe(). The table of it is in params.c and not here: what can be added up
 * by a macro is what lab 00 asks for.
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
    INIT_ADAPTER,  /**< a matrix of an adapter: 0 until lab 10 gives it numbers */
} ParamInit;

/** Index of a parameter of the model. Matrices are stored (output, input). */
typedef enum ModelParamId {
    WTE,         /**< (V, C) embedding of tokens; the head is this matrix once more */
    WPE,         /**< (T, C) embedding of positions */
    LNF_WEIGHT,  /**< (C) scale of the last layer norm */
    LNF_BIAS,    /**< (C) */
    MODEL_PARAMS /**< how many */
} ModelParamId;

/** Index of a parameter within its block. */
typedef enum BlockParamId {
    LN1_WEIGHT,    /**< (C) scale of the first layer norm */
    LN1_BIAS,      /**< (C) */
    QKV_WEIGHT,    /**< (3C, C) queries, keys, values */
    QKV_BIAS,      /**< (3C) */
    PROJ_WEIGHT,   /**< (C, C) from the heads back to the residual stream */
    PROJ_BIAS,     /**< (C) */
    LN2_WEIGHT,    /**< (C) scale of the second layer norm */
    LN2_BIAS,      /**< (C) */
    FC_WEIGHT,     /**< (4C, C) into the MLP */
    FC_BIAS,       /**< (4C) */
    FCPROJ_WEIGHT, /**< (C, 4C) from the MLP back to the residual stream */
    FCPROJ_BIAS,   /**< (C) */
    BLOCK_PARAMS   /**< how many */
} BlockParamId;

/** One parameter: a matrix or a vector. */
typedef struct Param {
    const char *name; /**< as in a file, without "h.<layer>." */
    int layer;        /**< block, or -1 */
    int rows;         /**< shape; a vector has 1 row */
    int cols;         /**< shape */
    size_t count;     /**< rows * cols */
    ParamInit init;   /**< start value */
    Real *weight;     /**< (rows, cols), device memory; NULL where it is not here */
    float *grad;      /**< (rows, cols), device memory: backward adds here; NULL likewise */
    bool frozen;      /**< never changes: it has no gradient, and no state */
    size_t first;     /**< of a piece (pieces.h): the place of its first number in its tensor */
    size_t whole;     /**< numbers of that tensor: `count`, but for a piece or a slice */
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
 * The same where each block is shared by several ranks, which have some of its heads and of the
 * columns of its MLP each (tensor parallelism):
 *
 *     QKV_WEIGHT (3C/S, C)    FC_WEIGHT (4C/S, C)      split by rows: each rank has some outputs
 *     QKV_BIAS (3C/S)         FC_BIAS (4C/S)
 *     PROJ_WEIGHT (C, C/S)    FCPROJ_WEIGHT (C, 4C/S)  split by columns: each adds a part of all
 *
 * All other parameters are whole. The rows of queries, keys and values are those of the rank's
 * heads, in this order.
 *
 * @param[out] params (params_count(config)); weight and grad are NULL
 * @param      config the shape of the whole model
 * @param      shards S, the ranks that share a block: a divisor of config->NH; 1 for none
 */
void params_describe_shard(Param *params, const ModelConfig *config, int shards);

/** The weight of a parameter. Where it is not here, the program ends with the parameter's name. */
Real *param_weight(const Param *param);

/**
 * The gradient of a parameter; the same. NULL for a frozen one, which an op that adds to gradients
 * takes for "not wanted".
 */
float *param_grad(const Param *param);

/** Matrices of adapters that a model of this shape has: 2 for each target in each block. */
int adapters_count(const ModelConfig *config);

/**
 * Fills in everything but the memory: block after block, in it the targets in the order of
 * LinearId, of each A (rank, inputs) and then B (outputs, rank).
 *
 * @param[out] params (adapters_count(config)); weight and grad are NULL
 * @param      config the shape
 */
void adapters_describe(Param *params, const ModelConfig *config);

/** Index of a linear layer's weight among the parameters of its block; its bias comes next. */
static inline BlockParamId linear_weight(LinearId id) {
    static const BlockParamId weight[BLOCK_LINEARS] = {QKV_WEIGHT, PROJ_WEIGHT, FC_WEIGHT,
                                                       FCPROJ_WEIGHT};
    return weight[id];
}

/**
 * Whether a parameter is a matrix, even one with a single row: weight decay pulls on these. Only
 * matrices start from random numbers.
 */
static inline bool param_is_matrix(const Param *param) {
    return param->init == INIT_NORMAL || param->init == INIT_RESIDUAL ||
           param->init == INIT_ADAPTER;
}

#endif
