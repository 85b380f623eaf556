/**
 * @file attention.h
 * @brief Causal multi-head attention that keeps its (T, T) probabilities.
 * @ingroup ops
 *
 * Head h of token t has query, key and value at qkv[b][t][0 * C + h * HS], [1 * C + h * HS] and
 * [2 * C + h * HS], HS = C / NH numbers each: the layout that the matrix product before it writes.
 *
 * Source: A. Vaswani et al., "Attention is all you need", arXiv 1706.03762, section 3.2.
 */
#ifndef KERNELS_ATTENTION_H
#define KERNELS_ATTENTION_H

#include "kernels/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Each token looks at itself and the ones before it.
 *
 *     score[t][s] = sum_i q[t][i] * k[s][i] / sqrt(HS)       for s <= t
 *     probs[t][s] = exp(score[t][s]) / sum_r exp(score[t][r]),  0 for s > t
 *     out[t][i]   = sum_s probs[t][s] * v[s][i]
 *
 * Scores and sums are float whatever the precision; there is no mask constant to overflow.
 *
 * @param[out] out       (B, T, C)
 * @param[out] probs     (B, NH, T, T), kept for backward: the memory that grows with T squared
 * @param[in]  qkv       (B, T, 3C)
 * @param      B         sequences
 * @param      T         tokens per sequence
 * @param      C         channels, a multiple of NH
 * @param      NH        heads
 * @param[in]  workspace scratch memory, and on the GPU the cuBLAS handle
 */
typedef void attention_forward_fn(Real *out, Real *probs, const Real *qkv, int B, int T, int C,
                                  int NH, const Workspace *workspace);
OP(attention_forward);

/**
 * Writes the gradient of queries, keys and values, which a block reads nowhere else.
 *
 *     dprobs[t][s] = sum_i dout[t][i] * v[s][i]
 *     dscore[t][s] = probs[t][s] * (dprobs[t][s] - sum_r probs[t][r] * dprobs[t][r])
 *     dq[t] = sum_s dscore[t][s] * k[s] / sqrt(HS)
 *     dk[s] = sum_t dscore[t][s] * q[t] / sqrt(HS)
 *     dv[s] = sum_t probs[t][s] * dout[t]
 *
 * @param[out]    dqkv      (B, T, 3C); no overlap
 * @param[in]     dout      (B, T, C)
 * @param[in]     probs     (B, NH, T, T) from forward
 * @param[in]     qkv       (B, T, 3C)
 * @param         B         sequences
 * @param         T         tokens per sequence
 * @param         C         channels, a multiple of NH
 * @param         NH        heads
 * @param[in]     workspace scratch memory, and on the GPU the cuBLAS handle
 */
typedef void attention_backward_fn(Real *dqkv, const Real *dout, const Real *probs, const Real *qkv,
                                   int B, int T, int C, int NH, const Workspace *workspace);
OP(attention_backward);

/** Scratch floats that each CPU thread needs for a head of T tokens of HS numbers; flash.h too. */
size_t attention_scratch_cpu(int T, int HS);

/** Sizes of the GPU's work. */
enum {
    ATTENTION_SEQUENCES = 8, /**< whose heads are one batch, at most */
    ATTENTION_MIB = 384,     /**< of scores at most, unless one sequence has more */
    ATTENTION_ARRAYS = 9     /**< addresses of matrices: attention.cu */
};

/** Bytes of the (NH, T, T) scores of one sequence. */
static inline size_t attention_scores(int T, int NH) {
    return (size_t)NH * T * T * sizeof(float);
}

/** Sequences whose scores the GPU has at once; with fewer, more launches would do less each. */
static inline int attention_sequences(int T, int NH) {
    size_t one = attention_scores(T, NH), most = (size_t)ATTENTION_MIB << 20;
    int count = ATTENTION_SEQUENCES;
    while (count > 1 && count * one > most) {
        count--;
    }
    return count;
}

/**
 * Bytes of workspace that the GPU needs: of attention_sequences() the scores, or the gradients of
 * probabilities, in float, and the addresses of their heads.
 */
static inline size_t attention_scratch_gpu(int T, int NH) {
    size_t heads = (size_t)attention_sequences(T, NH) * NH;
    return attention_sequences(T, NH) * attention_scores(T, NH) +
           heads * ATTENTION_ARRAYS * sizeof(void *);
}

#ifdef __cplusplus
}
#endif

#endif
