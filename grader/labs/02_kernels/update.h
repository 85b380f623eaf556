/**
 * @file update.h
 * @brief Judge of lab 02: the ops that go over all parameters, sumsq and adamw: inputs, what should
 * come back, and what known mistakes give.
 * @ingroup grader
 */
#ifndef GRADER_LABS_02_KERNELS_UPDATE_H
#define GRADER_LABS_02_KERNELS_UPDATE_H

#include "common/testkit/reference.h"
#include "grader/labs/02_kernels/calls.h"

/* ---- sumsq ----------------------------------------------------------------------------------- */

/** n numbers of that scale, cut into tensors; with `partials` what the blocks leave is wanted, not
 * their sum. */
void sumsq_add(Calls *calls, int n, double scale, bool partials);

/** The same for n numbers of which one, in the middle, is inf or NaN. */
void sumsq_add_infinite(Calls *calls, int n, float infinite, bool partials);

/* ---- adamw ----------------------------------------------------------------------------------- */

/** The gradients of an update. */
typedef struct AdamwGradients {
    double scale; /**< of all */
    float middle; /**< of the one in the middle, where it is not 0 */
} AdamwGradients;

/** Update t of n weights, cut into tensors: kernel_cut(). */
void adamw_add(Calls *calls, int n, AdamW a, int t, AdamwGradients gradients);

#endif
