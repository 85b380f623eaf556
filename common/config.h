/**
 * @file config.h
 * @brief The shape of a GPT-2: five numbers, and three choices that change its memory.
 * @ingroup common
 */
#ifndef COMMON_CONFIG_H
#define COMMON_CONFIG_H

#include "kernels/base.h"

/** The tensors that attention keeps for backward. */
typedef enum Attention {
    ATTENTION_PLAIN, /**< the probabilities: B * NH * T * T numbers a layer (kernels/attention.h) */
    ATTENTION_FLASH, /**< one float per row: B * NH * T (kernels/flash.h) */
} Attention;

/** The linear layers of a block. */
typedef enum LinearId {
    LINEAR_QKV,    /**< "attn.c_attn": queries, keys and values, C to 3C */
    LINEAR_PROJ,   /**< "attn.c_proj": from the heads to the residual stream, C to C */
    LINEAR_FC,     /**< "mlp.c_fc": into the MLP, C to 4C */
    LINEAR_FCPROJ, /**< "mlp.c_proj": from the MLP to the residual stream, 4C to C */
    BLOCK_LINEARS  /**< how many */
} LinearId;

/**
 * A pair of thin matrices, A (rank, inputs) and B (outputs, rank), beside some of the linear layers
 * of every block. Where a model has such, only these are trained, and all else is frozen.
 */
typedef struct Adapter {
    int rank;         /**< r; 0: no adapters, and all parameters are trained */
    unsigned targets; /**< 1 << LinearId for each layer that has a pair */
    float alpha;      /**< the branch counts alpha / rank */
    float dropout;    /**< probability, on the input of the branch */
} Adapter;

/** A model's shape. */
typedef struct ModelConfig {
    int V;               /**< vocabulary; at least 256, since bytes are the ids */
    int T;               /**< positions: the longest sequence */
    int L;               /**< layers (blocks) */
    int NH;              /**< attention heads */
    int C;               /**< channels, a multiple of NH */
    float dropout;       /**< probability after the embedding and on both residual branches */
    Precision precision; /**< storage of weights and activations */
    Attention attention; /**< what attention keeps */
    Adapter adapter;     /**< what is trained in place of the model; rank 0 for nothing */
} ModelConfig;

/** Longest message of the functions that check what the outside world gave, in bytes. */
enum { ERROR_BYTES = 256 };

/**
 * Says whether a model of this shape can exist and its tensors can be indexed; not of its adapter.
 *
 * @param      config the shape
 * @param[out] error  (ERROR_BYTES) one line without newline, where the result is -1
 * @return 0, or -1
 */
int config_check(const ModelConfig *config, char *error);

/** The same for adapters; rank 0 for none is fine. @return 0, or -1 */
int adapter_check(const Adapter *adapter, char *error);

#endif
