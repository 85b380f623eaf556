/**
 * @file embedding.h
 * @brief Token plus position embedding: out[b][t] = wte[tokens[b][t]] + wpe[t].
 * @ingroup ops
 */
#ifndef KERNELS_EMBEDDING_H
#define KERNELS_EMBEDDING_H

#include "kernels/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Looks up token and position vectors and adds them.
 *
 *     out[b][t][c] = wte[tokens[b][t]][c] + wpe[t][c]
 *
 * @param[out] out    (B, T, C); no overlap
 * @param[in]  tokens (B, T), each in [0, V), not checked here; or negative, as NOT_HERE of vocab.h:
 *                    its vector is 0
 * @param[in]  wte    (V, C) token embedding
 * @param[in]  wpe    (at least T, C) position embedding; NULL for none
 * @param      B      sequences
 * @param      T      tokens per sequence
 * @param      C      channels
 */
typedef void embedding_forward_fn(Real *out, const int32_t *tokens, const Real *wte,
                                  const Real *wpe, int B, int T, int C);
OP(embedding_forward);

/**
 * Adds the gradients of both tables. Rows of one token are added in an order that the tokens fix,
 * on the CPU that of (b, t), so that the sum has the same bits every time: no atomics. A negative
 * token has no row.
 *
 *     dwte[tokens[b][t]][c] += dout[b][t][c]
 *     dwpe[t][c]            += dout[b][t][c]
 *
 * @param[in,out] dwte   (V, C), added to
 * @param[in,out] dwpe   (at least T, C), added to
 * @param[in]     dout   (B, T, C)
 * @param[in]     tokens (B, T)
 * @param         B      sequences
 * @param         T      tokens per sequence
 * @param         C      channels
 * @param         V      rows of dwte
 * @param[in]     workspace scratch memory (GPU)
 */
typedef void embedding_backward_fn(float *dwte, float *dwpe, const Real *dout,
                                   const int32_t *tokens, int B, int T, int C, int V,
                                   const Workspace *workspace);
OP(embedding_backward);

#ifdef __cplusplus
}
#endif

#endif
