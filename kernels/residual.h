/**
 * @file residual.h
 * @brief Residual connection: the stream plus a branch, the branch under dropout.
 * @ingroup ops
 */
#ifndef KERNELS_RESIDUAL_H
#define KERNELS_RESIDUAL_H

#include "kernels/dropout.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Adds a branch to the stream.
 *
 *     out[i] = stream[i] + dropout(branch[i])
 *
 * @param[out] out     (n); may be `stream` or `branch`
 * @param[in]  stream  (n)
 * @param[in]  branch  (n)
 * @param      n       elements
 * @param      dropout mask of the branch; p = 0 for a plain sum
 */
typedef void residual_forward_fn(Real *out, const Real *stream, const Real *branch, size_t n,
                                 Dropout dropout);
OP(residual_forward);

/**
 * Adds dout to the gradients of both sides.
 *
 *     dstream[i] += dout[i]
 *     dbranch[i] += dropout(dout[i])
 *
 * @param[in,out] dstream (n), added to; NULL where `dout` itself goes on as the stream's gradient
 * @param[in,out] dbranch (n), added to; not `dout`
 * @param[in]     dout    (n)
 * @param         n       elements
 * @param         dropout the mask given to forward
 */
typedef void residual_backward_fn(Real *dstream, Real *dbranch, const Real *dout, size_t n,
                                  Dropout dropout);
OP(residual_backward);

#ifdef __cplusplus
}
#endif

#endif
