/**
 * @file matmul.h
 * @brief The linear layer: a matrix product with bias. Most of a training step's time is here.
 * @ingroup ops
 *
 * Weights are stored (OC, C), a row for each output channel: the product is one of rows with rows,
 * and the token embedding (V, C) serves as the head without being transposed.
 *
 * Rows of the output begin `stride` numbers apart, OC or more: the head's are padded
 * (logits_stride() in crossentropy.h). What lies between two rows is neither read nor written.
 */
#ifndef KERNELS_MATMUL_H
#define KERNELS_MATMUL_H

#include "kernels/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * out[n][o] = bias[o] + sum_c in[n][c] * weight[o][c]
 *
 * Products are summed in float.
 *
 * @param[out] out       (N, OC), rows `stride` apart; no overlap
 * @param[in]  in        (N, C)
 * @param[in]  weight    (OC, C)
 * @param[in]  bias      (OC), or NULL for none
 * @param      N         rows
 * @param      C         input channels, at least 1
 * @param      OC        output channels
 * @param      stride    numbers from one row of out to the next, at least OC; OC where bias is
 * given
 * @param[in]  workspace scratch memory: on the CPU matmul_scratch() of the narrower of C and OC for
 *                       each thread; and on the GPU the cuBLAS handle
 */
typedef void matmul_forward_fn(Real *out, const Real *in, const Real *weight, const Real *bias,
                               int N, int C, int OC, int stride, const Workspace *workspace);
OP(matmul_forward);

/**
 * Adds the gradients of input, weight and bias; any of the three may be NULL and is left out.
 *
 *     din[n][c]     += sum_o dout[n][o] * weight[o][c]
 *     dweight[o][c] += sum_n dout[n][o] * in[n][c]
 *     dbias[o]      += sum_n dout[n][o]
 *
 * @param[in,out] din       (N, C), added to; no overlap
 * @param[in,out] dweight   (OC, C), added to
 * @param[in,out] dbias     (OC), added to
 * @param[in]     dout      (N, OC), rows `stride` apart
 * @param[in]     in        (N, C)
 * @param[in]     weight    (OC, C)
 * @param         N         rows
 * @param         C         input channels
 * @param         OC        output channels
 * @param         stride    numbers from one row of dout to the next, at least OC
 * @param[in]     workspace scratch memory as for matmul_forward(), on the GPU matmul_scratch_gpu()
 */
typedef void matmul_backward_fn(Real *din, float *dweight, float *dbias, const Real *dout,
                                const Real *in, const Real *weight, int N, int C, int OC,
                                int stride, const Workspace *workspace);
OP(matmul_backward);

/**
 * matmul_backward() where no other op gives `din` a gradient: it is written, so that nobody need
 * clear it before. `dweight` and `dbias` are added to, as there.
 *
 *     din[n][c] = sum_o dout[n][o] * weight[o][c]
 *
 * The parameters are those of matmul_backward(), with `din` an output and OC at least 1.
 */
typedef matmul_backward_fn matmul_backward_first_fn;
OP(matmul_backward_first);

/**
 * Scratch floats that each CPU thread needs for copies of factors, and in half for sums.
 *
 * @param C the narrower side of a matrix of weights, at most: the channels of the model
 */
typedef size_t matmul_scratch_fn(int C);
/** @cond */
matmul_scratch_fn matmul_scratch_cpu_f32, matmul_scratch_cpu_f16, matmul_scratch_cpu_bf16;
/** @endcond */

/** Blocks of rows that the GPU sums for dbias before their sums; fixed, so that bits are. */
enum { MATMUL_BLOCKS = 64 };

/** Floats of workspace that matmul_backward() needs on the GPU for dbias; 0 without one. */
static inline size_t matmul_scratch_gpu(int OC) {
    return MATMUL_BLOCKS * (size_t)OC;
}

#ifdef __cplusplus
}
#endif

#endif
