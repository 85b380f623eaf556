/**
 * @file sumsq.h
 * @brief Sum of squares: what the global gradient norm is made of.
 * @ingroup ops
 */
#ifndef KERNELS_SUMSQ_H
#define KERNELS_SUMSQ_H

#include "kernels/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The most partial sums that the GPU keeps in the workspace, a float each. */
enum { SUMSQ_BLOCKS = 1024 };

/**
 * Adds the sum of squares to one number, in an order that depends on n alone.
 *
 *     out[0] += sum_i x[i]^2
 *
 * @param[in,out] out       (1), added to: the norm over many tensors is one chain of calls
 * @param[in]     x         (n)
 * @param         n         elements
 * @param[in]     workspace scratch memory (GPU)
 */
typedef void sumsq_fn(float *out, const float *x, size_t n, const Workspace *workspace);
FLOAT_OP(sumsq);

#ifdef __cplusplus
}
#endif

#endif
