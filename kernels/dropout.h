/**
 * @file dropout.h
 * @brief Dropout: each element is zero with probability p, else divided by 1 - p.
 * @ingroup ops
 *
 * The mask is never stored. Element i of a call uses word i % 4 of philox(offset + i / 4), on every
 * device, so backward draws the mask that forward drew, and so may any caller that knows seed and
 * offset. A call over n elements takes dropout_counters(n) counters of the stream.
 *
 * Source: N. Srivastava et al., "Dropout", JMLR 15 (2014), section 10 ("inverted" form).
 */
#ifndef KERNELS_DROPOUT_H
#define KERNELS_DROPOUT_H

#include "kernels/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Which mask: a probability and a place in a random stream. */
typedef struct Dropout {
    float p;              /**< probability of zero, in [0, 1); with 0 no mask is drawn */
    uint64_t seed;        /**< Philox key */
    uint64_t offset;      /**< Philox counter of elements 0 to 3 */
    const uint64_t *base; /**< (1) in the op's memory, added to the offset when the op runs, or NULL
                               for 0: in a captured step all that is passed by value is frozen */
} Dropout;

/** Counters that a call over n elements takes: ceil(n / 4). */
static inline uint64_t dropout_counters(size_t n) {
    return (n + 3) / 4;
}

/** An element is dropped when its random word is below this: p * 2^32. */
static inline uint32_t dropout_threshold(float p) {
    return (uint32_t)((double)p * 4294967296.0);
}

/**
 * Applies the mask.
 *
 *     out[i] = word_i < threshold ? 0 : in[i] / (1 - p)
 *
 * @param[out] out     (n); may be `in`
 * @param[in]  in      (n)
 * @param      n       elements
 * @param      dropout which mask
 */
typedef void dropout_forward_fn(Real *out, const Real *in, size_t n, Dropout dropout);
OP(dropout_forward);

/**
 * Adds dout under the same mask, or replaces the gradient in place.
 *
 * @param[in,out] din     (n), added to; may be `dout`, whose content is then replaced
 * @param[in]     dout    (n)
 * @param         n       elements
 * @param         dropout the mask given to forward
 */
typedef void dropout_backward_fn(Real *din, const Real *dout, size_t n, Dropout dropout);
OP(dropout_backward);

#ifdef __cplusplus
}
#endif

#endif
