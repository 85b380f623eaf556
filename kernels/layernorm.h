/**
 * @file layernorm.h
 * @brief Layer normalisation: each row to mean 0 and variance 1, then scaled and shifted.
 * @ingroup ops
 *
 * Source: J. Ba, J. Kiros, G. Hinton, "Layer normalization", arXiv 1607.06450, section 3.
 */
#ifndef KERNELS_LAYERNORM_H
#define KERNELS_LAYERNORM_H

#include "kernels/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Added to the variance, under the root, as in GPT-2. */
#define LAYERNORM_EPSILON 1e-5f

/** Row blocks whose partial sums layernorm_backward() keeps; fixed, so that bits are too. */
enum { LAYERNORM_BLOCKS = 32 };

/**
 * Normalises each row.
 *
 *     mean = sum_c in[c] / C
 *     rstd = 1 / sqrt(sum_c (in[c] - mean)^2 / C + epsilon)
 *     out[c] = (in[c] - mean) * rstd * weight[c] + bias[c]
 *
 * The variance is taken around the mean in a second pass: the one-pass form E[x^2] - E[x]^2 loses
 * all digits when the mean is large. Statistics stay in float whatever the precision.
 *
 * @param[out] out    (N, C); no overlap, since backward needs `in`
 * @param[out] mean   (N)
 * @param[out] rstd   (N)
 * @param[in]  in     (N, C)
 * @param[in]  weight (C)
 * @param[in]  bias   (C)
 * @param      N      rows
 * @param      C      channels
 */
typedef void layernorm_forward_fn(Real *out, float *mean, float *rstd, const Real *in,
                                  const Real *weight, const Real *bias, int N, int C);
OP(layernorm_forward);

/**
 * Adds the gradients of input, weight and bias. With x = (in - mean) * rstd and
 * g = dout * weight:
 *
 *     din[c]     += rstd * (g[c] - mean_c(g) - x[c] * mean_c(g * x))
 *     dweight[c] += sum over rows of dout[c] * x[c]
 *     dbias[c]   += sum over rows of dout[c]
 *
 * @param[in,out] din       (N, C), added to; not `dout`
 * @param[in,out] dweight   (C), added to
 * @param[in,out] dbias     (C), added to
 * @param[in]     dout      (N, C)
 * @param[in]     in        (N, C) as given to forward
 * @param[in]     mean      (N) from forward
 * @param[in]     rstd      (N) from forward
 * @param[in]     weight    (C)
 * @param         N         rows
 * @param         C         channels
 * @param[in]     workspace scratch memory: partial sums, 2 * LAYERNORM_BLOCKS * C floats
 */
typedef void layernorm_backward_fn(Real *din, float *dweight, float *dbias, const Real *dout,
                                   const Real *in, const float *mean, const float *rstd,
                                   const Real *weight, int N, int C, const Workspace *workspace);
OP(layernorm_backward);

#ifdef __cplusplus
}
#endif

#endif
