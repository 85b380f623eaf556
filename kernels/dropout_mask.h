/**
 * @file dropout_mask.h
 * @brief The factors 0 or 1 / (1 - p) of a run of elements; for dropout.c and residual.c.
 * @ingroup kernels
 */
#ifndef KERNELS_DROPOUT_MASK_H
#define KERNELS_DROPOUT_MASK_H

#include "kernels/dropout.h"
#include "kernels/philox.h"

/** Elements whose factors are drawn at once: fits in the first-level cache. */
enum { MASK_RUN = 1024 };

/**
 * The factors of elements first ... first + MASK_RUN - 1.
 *
 * @param[out] factor  (MASK_RUN)
 * @param      first   index of the first element in its call, a multiple of 4
 * @param      dropout which mask; with p = 0 all factors are 1 and nothing is drawn
 */
static inline void dropout_factors(float factor[MASK_RUN], size_t first, Dropout dropout) {
    if (!(dropout.p > 0)) {
        for (int i = 0; i < MASK_RUN; i++) {
            factor[i] = 1;
        }
        return;
    }
    uint32_t threshold = dropout_threshold(dropout.p);
    float scale = 1 / (1 - dropout.p);
    uint64_t offset = (dropout.base != NULL ? dropout.base[0] : 0) + dropout.offset;
#pragma omp simd
    for (int i = 0; i < MASK_RUN / 4; i++) {
        Philox random = philox(offset + first / 4 + (uint64_t)i, 0, dropout.seed);
        factor[4 * i] = random.word[0] < threshold ? 0 : scale;
        factor[4 * i + 1] = random.word[1] < threshold ? 0 : scale;
        factor[4 * i + 2] = random.word[2] < threshold ? 0 : scale;
        factor[4 * i + 3] = random.word[3] < threshold ? 0 : scale;
    }
}

/**
 * Adds a run under its mask. A dropped NaN or infinity adds nothing: the element takes no part,
 * whatever it is.
 *
 * @param[in,out] sum    (n), added to
 * @param[in]     x      (n)
 * @param[in]     factor (n) from dropout_factors()
 * @param         n      elements, at most MASK_RUN
 */
static inline void dropout_add(float *sum, const float *x, const float *factor, size_t n) {
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        sum[i] += factor[i] > 0 ? factor[i] * x[i] : 0;
    }
}

#endif
