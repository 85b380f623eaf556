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
} ModelConfig;

/** Longest message of the functions that check what the outside world gave, in bytes. */
enum { ERROR_BYTES = 256 };

/**
 * Says whether a model of this shape can exist and its tensors can be indexed.
 *
 * @param      config the shape
 * @param[out] error  (ERROR_BYTES) one line without newline, where the result is -1
 * @return 0, or -1
 */
int config_check(const ModelConfig *config, char *error);

#endif
