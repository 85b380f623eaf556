/**
 * @file norm.h
 * @brief Judge of lab 02, layernorm: inputs, what should come back, and what known mistakes
 * give.
 * @ingroup grader
 */
#ifndef GRADER_LABS_02_KERNELS_NORM_H
#define GRADER_LABS_02_KERNELS_NORM_H

#include "common/testkit/reference.h"
#include "grader/labs/02_kernels/calls.h"
#include "kernels/layernorm.h"

/** The results to expect back, by bits. */
enum { DIN = 1, PARTIALS = 2, PARAMETERS = 4 };

/** The upstream gradient, dout. */
typedef struct NormGradients {
    double scale; /**< of all */
    bool lift;    /**< all of it is near 256 */
    float middle; /**< of the one in the middle, where it is not 0 */
} NormGradients;

/** Backward of (N, C) rows. */
void layernorm_add(Calls *calls, Precision precision, int N, int C, NormGradients gradients,
                   int back);

#endif
