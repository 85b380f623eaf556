/**
 * @file flash.h
 * @brief Causal multi-head attention that keeps one number per row and recomputes the rest.
 * @ingroup ops
 *
 * The same function as attention.h, in memory linear in T: instead of the probabilities, forward
 * keeps the log of each row's sum of exponentials, and backward forms the probabilities again from
 * queries and keys, a tile at a time.
 *
 * Source: T. Dao et al., "FlashAttention", arXiv 2205.14135, algorithm 1 and appendix B.4;
 * T. Dao, "FlashAttention-2", arXiv 2307.08691, section 3.1.
 */
#ifndef KERNELS_FLASH_H
#define KERNELS_FLASH_H

#include <stdbool.h>

#include "kernels/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * out as in attention_forward(), without a (T, T) tensor.
 *
 *     lse[b][h][t] = log(sum_{s <= t} exp(score[t][s]))
 *
 * @param[out] out       (B, T, C)
 * @param[out] lse       (B, NH, T), kept for backward
 * @param[in]  qkv       (B, T, 3C)
 * @param      B         sequences
 * @param      T         tokens per sequence
 * @param      C         channels, a multiple of NH
 * @param      NH        heads
 * @param[in]  workspace scratch memory
 */
typedef void flash_forward_fn(Real *out, float *lse, const Real *qkv, int B, int T, int C, int NH,
                              const Workspace *workspace);
OP(flash_forward);

/**
 * Writes the gradient of queries, keys and values, as attention_backward() does, with
 *
 *     probs[t][s] = exp(score[t][s] - lse[t])
 *     sum_r probs[t][r] * dprobs[t][r] = sum_i dout[t][i] * out[t][i]
 *
 * @param[out]    dqkv      (B, T, 3C); no overlap
 * @param[in]     dout      (B, T, C)
 * @param[in]     out       (B, T, C) from forward
 * @param[in]     lse       (B, NH, T) from forward
 * @param[in]     qkv       (B, T, 3C)
 * @param         B         sequences
 * @param         T         tokens per sequence
 * @param         C         channels, a multiple of NH
 * @param         NH        heads
 * @param[in]     workspace scratch memory
 */
typedef void flash_backward_fn(Real *dqkv, const Real *dout, const Real *out, const float *lse,
                               const Real *qkv, int B, int T, int C, int NH,
                               const Workspace *workspace);
OP(flash_backward);

/** Bytes of workspace that the GPU needs, of one sequence: a float for each query of each head. */
static inline size_t flash_scratch_gpu(int T, int NH) {
    return (size_t)NH * T * sizeof(float);
}

/**
 * flash_forward() on a GPU's tensor cores, which flash_forward() asks first.
 *
 * @return false, and nothing is done, where they cannot take it: in f32, for heads of more than 128
 *         numbers or of other than a multiple of 8, in code for a GPU before sm_80
 */
typedef bool flash_tensor_forward_fn(Real *out, float *lse, const Real *qkv, int B, int T, int C,
                                     int NH);
/** flash_backward() there; false as in flash_tensor_forward(). It takes as many sequences at once
    as the workspace has flash_scratch_gpu() for. */
typedef bool flash_tensor_backward_fn(Real *dqkv, const Real *dout, const Real *out,
                                      const float *lse, const Real *qkv, int B, int T, int C,
                                      int NH, const Workspace *workspace);
/** @cond */
flash_tensor_forward_fn flash_tensor_forward_gpu_f32, flash_tensor_forward_gpu_f16,
    flash_tensor_forward_gpu_bf16;
flash_tensor_backward_fn flash_tensor_backward_gpu_f32, flash_tensor_backward_gpu_f16,
    flash_tensor_backward_gpu_bf16;
/** @endcond */

#ifdef __cplusplus
}
#endif

#endif
