/**
 * @file residual_norm.h
 * @brief Residual connection and the layer norm that reads its sum, in one op: each row is moved
 * once.
 * @ingroup ops
 *
 * The same numbers, to the bit, as residual_forward() and then layernorm_forward() give; backward
 * as layernorm_backward() and then residual_backward(). Saved is traffic: apart, forward moves
 * 5 N C numbers (stream, branch and the sum; the sum and out), together 4 N C, for what has just
 * been added need not be read again. Backward moves 5 N C in place of 7; the sums for dweight and
 * dbias read 2 N C more either way.
 *
 * Source: T. Dao, D. Fu and others, the fused "dropout, add, layer norm" of flash-attention,
 * csrc/layer_norm.
 */
#ifndef KERNELS_RESIDUAL_NORM_H
#define KERNELS_RESIDUAL_NORM_H

#include "kernels/dropout.h"
#include "kernels/layernorm.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Adds a branch to the stream, and normalises each row of the sum. `norm` is layernorm_forward().
 *
 *     sum[n][c] = stream[n][c] + dropout(branch[n][c])
 *     out       = norm(sum), of the sum as it is stored: rounded
 *
 * Element (n, c) has index n C + c in the dropout's call.
 *
 * @param[out] sum     (N, C); may be `stream` or `branch`
 * @param[out] out     (N, C); no overlap
 * @param[out] mean    (N)
 * @param[out] rstd    (N)
 * @param[in]  stream  (N, C)
 * @param[in]  branch  (N, C)
 * @param[in]  weight  (C)
 * @param[in]  bias    (C)
 * @param      N       rows; 0 is fine
 * @param      C       channels, up to 12288: a row of floats fits into a block's shared memory
 * @param      dropout mask of the branch; p = 0 for a plain sum
 */
typedef void residual_norm_forward_fn(Real *sum, Real *out, float *mean, float *rstd,
                                      const Real *stream, const Real *branch, const Real *weight,
                                      const Real *bias, int N, int C, Dropout dropout);
OP(residual_norm_forward);

/**
 * Adds the gradients: first those of the norm, as layernorm_backward() with `sum` for `in`; then
 * that of the branch, from the gradient of the sum, which is then complete.
 *
 *     dsum    += the gradient through the norm;  dweight, dbias += as in kernels/layernorm.h
 *     dbranch += dropout(dsum), of dsum as it is stored
 *
 * @param[in,out] dsum      (N, C) what reaches the sum past the norm, added to
 * @param[in,out] dbranch   (N, C), added to; may be `dout`, whose content is then replaced by
 *                          dropout(dsum); not `dsum`
 * @param[in,out] dweight   (C), added to
 * @param[in,out] dbias     (C), added to
 * @param[in]     dout      (N, C) gradient of `out`
 * @param[in]     sum       (N, C) from forward
 * @param[in]     mean      (N) from forward
 * @param[in]     rstd      (N) from forward
 * @param[in]     weight    (C)
 * @param         N         rows; 0 is fine
 * @param         C         channels
 * @param         dropout   the mask given to forward
 * @param[in]     workspace scratch memory: partial sums, 2 * LAYERNORM_BLOCKS * C floats
 */
typedef void residual_norm_backward_fn(Real *dsum, Real *dbranch, float *dweight, float *dbias,
                                       const Real *dout, const Real *sum, const float *mean,
                                       const float *rstd, const Real *weight, int N, int C,
                                       Dropout dropout, const Workspace *workspace);
OP(residual_norm_backward);

#ifdef __cplusplus
}
#endif

#endif
