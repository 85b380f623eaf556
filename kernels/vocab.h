/**
 * @file vocab.h
 * @brief Softmax and cross-entropy where a row of logits has some columns of the vocabulary only.
 * @ingroup ops
 *
 * The vocabulary is cut into ranges, one for each rank. Each has the columns of its range, and
 * makes of them what can be brought together: a maximum, a sum, the logit of the target where it
 * is here.
 *
 *     lse  = max + log(sum),   max = largest of all maxima,   sum = sum of all sums
 *     loss = lse - at_target,  at_target = sum over the ranges, of which one has the target
 *
 * Ids are those of the range: vocab_ids(). Rows begin `stride` numbers apart, as in crossentropy.h.
 */
#ifndef KERNELS_VOCAB_H
#define KERNELS_VOCAB_H

#include "kernels/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An id that is in another range. */
enum { NOT_HERE = -1 };

/**
 * The ids of a range: id - first where that is in [0, V), else NOT_HERE. IGNORE_INDEX stays.
 *
 * @param[out] out   (N)
 * @param[in]  ids   (N) of the whole vocabulary, or IGNORE_INDEX
 * @param      first of the range
 * @param      V     ids in the range
 * @param      N     how many
 */
typedef void vocab_ids_fn(int32_t *out, const int32_t *ids, int first, int V, int N);
OP(vocab_ids);

/**
 * max = max_v logits[v].
 *
 * @param[out] max    (N)
 * @param[in]  logits (N, V), rows `stride` apart
 * @param      N      rows
 * @param      V      columns that are here, at least 1
 * @param      stride numbers from one row to the next: at least V
 */
typedef void vocab_max_fn(float *max, const Real *logits, int N, int V, int stride);
OP(vocab_max);

/**
 * sum = sum_v exp(logits[v] - max), and the logit of the target: 0 where it is not here, or
 * ignored.
 *
 * @param[out] sum       (N)
 * @param[out] at_target (N)
 * @param[in]  logits    (N, V), rows `stride` apart
 * @param[in]  max       (N) of the whole vocabulary
 * @param[in]  targets   (N) ids of the range
 * @param      N         rows
 * @param      V         columns that are here
 * @param      stride    numbers from one row to the next: at least V
 */
typedef void vocab_sum_fn(float *sum, float *at_target, const Real *logits, const float *max,
                          const int32_t *targets, int N, int V, int stride);
OP(vocab_sum);

/**
 * lse = max + log(sum), loss = lse - at_target: 0 where the target is ignored.
 *
 * @param[out] losses    (N) nats
 * @param[out] lse       (N)
 * @param[in]  max       (N) of the whole vocabulary
 * @param[in]  sum       (N) the same
 * @param[in]  at_target (N) the same
 * @param[in]  targets   (N) ids of the range, or of the whole: only IGNORE_INDEX counts
 * @param      N         rows
 */
typedef void vocab_loss_fn(float *losses, float *lse, const float *max, const float *sum,
                           const float *at_target, const int32_t *targets, int N);
OP(vocab_loss);

/**
 * Replaces the logits by their gradient.
 *
 *     logits[v] = dloss * (exp(logits[v] - lse) - (v == target ? 1 : 0));  0 where it is ignored
 *
 * @param[in,out] logits  (N, V), rows `stride` apart
 * @param[in]     lse     (N) of the whole vocabulary
 * @param[in]     targets (N) ids of the range
 * @param         dloss   upstream gradient of every token's loss
 * @param         N       rows
 * @param         V       columns that are here
 * @param         stride  numbers from one row to the next: at least V, and a multiple of 16 bytes
 */
typedef void vocab_backward_fn(Real *logits, const float *lse, const int32_t *targets, float dloss,
                               int N, int V, int stride);
OP(vocab_backward);

#ifdef __cplusplus
}
#endif

#endif
