/**
 * @file crossentropy.h
 * @brief Softmax and cross-entropy in one: the loss of each token, and the gradient of its logits.
 * @ingroup ops
 *
 * Rows are tokens; a row whose target is IGNORE_INDEX has loss 0 and gradient 0.
 *
 * A row of logits has V numbers and begins `stride` numbers after the one before, so that each row
 * begins at a multiple of 16 bytes even where V is odd, as GPT-2's 50257 is. The stride - V numbers
 * between two rows are padding: neither read nor written, whatever they hold.
 */
#ifndef KERNELS_CROSSENTROPY_H
#define KERNELS_CROSSENTROPY_H

#include "kernels/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Rows of logits begin at multiples of 64 numbers: 128 bytes in half. */
enum { LOGITS_ALIGNMENT = 64 };

/** The stride that a model's logits have: V rounded up to a multiple of 64. */
static inline int logits_stride(int V) {
    return (V + LOGITS_ALIGNMENT - 1) / LOGITS_ALIGNMENT * LOGITS_ALIGNMENT;
}

/**
 * Loss of each token in nats.
 *
 *     lse    = max + log(sum_v exp(logits[v] - max)),   max = max_v logits[v]
 *     losses = lse - logits[target]
 *
 * Without `max`, exp overflows from a logit of 89 on. No mean is taken here: what to divide by is
 * the loop's business.
 *
 * @param[out] losses  (N) nats; 0 where ignored
 * @param[out] lse     (N) log of the sum of exponentials, kept for backward
 * @param[in]  logits  (N, V), rows `stride` apart
 * @param[in]  targets (N), each in [0, V) or IGNORE_INDEX
 * @param      N       rows
 * @param      V       vocabulary
 * @param      stride  numbers from one row to the next: at least V, a multiple of 8
 */
typedef void crossentropy_forward_fn(float *losses, float *lse, const Real *logits,
                                     const int32_t *targets, int N, int V, int stride);
OP(crossentropy_forward);

/**
 * Adds the gradient of the logits, or replaces them in place (so that no second (N, V) tensor is
 * needed).
 *
 *     dlogits[v] += dloss * (exp(logits[v] - lse) - (v == target ? 1 : 0))
 *
 * @param[in,out] dlogits (N, V), added to; may be `logits`, which are then replaced
 * @param[in]     logits  (N, V), rows `stride` apart, as those of dlogits
 * @param[in]     lse     (N) from forward
 * @param[in]     targets (N)
 * @param         dloss   upstream gradient of every token's loss: 1 / (valid tokens) for a mean,
 *                        times the loss scale where one is used
 * @param         N       rows
 * @param         V       vocabulary
 * @param         stride  numbers from one row to the next: at least V, a multiple of 8
 */
typedef void crossentropy_backward_fn(Real *dlogits, const Real *logits, const float *lse,
                                      const int32_t *targets, float dloss, int N, int V,
                                      int stride);
OP(crossentropy_backward);

#ifdef __cplusplus
}
#endif

#endif
