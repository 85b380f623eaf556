/**
 * @file gelu.h
 * @brief GELU, the smooth gate of the MLP, in its tanh form, with the bias that comes before it.
 * @ingroup ops
 *
 *     gelu(x) = x/2 * (1 + tanh(u)) = x / (1 + exp(-2u)),   u = sqrt(2/pi) * (x + 0.044715 x^3)
 *
 * Source: D. Hendrycks, K. Gimpel, "Gaussian error linear units", arXiv 1606.08415, section 2;
 * it is the "gelu_new" of GPT-2.
 */
#ifndef KERNELS_GELU_H
#define KERNELS_GELU_H

#include "kernels/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Adds the bias of the matrix product before it and applies GELU: one pass over memory for both.
 *
 *     in[n][c] += bias[c]
 *     out[n][c] = gelu(in[n][c])
 *
 * @param[out]    out  (N, C); no overlap
 * @param[in,out] in   (N, C); the bias is added in place, since backward needs the sum
 * @param[in]     bias (C), or NULL for none; then `in` is only read
 * @param         N    rows
 * @param         C    channels
 */
typedef void gelu_forward_fn(Real *out, Real *in, const Real *bias, int N, int C);
OP(gelu_forward);

/**
 * Adds dout * gelu'(in), or replaces the gradient in place. With s = 1 / (1 + exp(-2u)):
 *
 *     gelu'(x) = s + x * s * (1 - s) * 2 * sqrt(2/pi) * (1 + 3 * 0.044715 x^2)
 *
 * The gradient of the bias is the column sum of the result: matmul_backward() forms it.
 *
 * @param[in,out] din  (N, C), added to; may be `dout`, whose content is then replaced
 * @param[in]     dout (N, C)
 * @param[in]     in   (N, C), the bias included
 * @param         N    rows
 * @param         C    channels
 */
typedef void gelu_backward_fn(Real *din, const Real *dout, const Real *in, int N, int C);
OP(gelu_backward);

#ifdef __cplusplus
}
#endif

#endif
