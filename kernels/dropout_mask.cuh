/**
 * @file dropout_mask.cuh
 * @brief PACK neighbours under the dropout mask; for dropout.cu and residual.cu.
 * @ingroup kernels
 *
 * The device's counterpart of kernels/dropout_mask.h.
 */
#ifndef KERNELS_DROPOUT_MASK_CUH
#define KERNELS_DROPOUT_MASK_CUH

#include "kernels/dropout.h"
#include "kernels/philox.h"
#include "kernels/real.cuh"

/**
 * A Dropout as a kernel takes it: what is the same for all elements is computed once, by the host.
 */
struct Mask {
    uint64_t seed;        /**< Philox key */
    uint64_t offset;      /**< Philox counter of elements 0 to 3 */
    uint32_t threshold;   /**< words below it drop their element; with 0 no mask is drawn */
    float scale;          /**< 1 / (1 - p) */
    const uint64_t *base; /**< (1) device memory, added to the offset; NULL for 0 */
};

/** The mask of a call. */
static inline Mask mask_of(Dropout dropout) {
    Mask mask = {dropout.seed, dropout.offset, dropout_threshold(dropout.p), 1 / (1 - dropout.p),
                 dropout.base};
    return mask;
}

/** The random words of elements first to first + 3 of a call; `first` is a multiple of 4. */
static __device__ inline Philox mask_words(Mask mask, size_t first) {
    uint64_t base = mask.base != NULL ? mask.base[0] : 0;
    return philox(base + mask.offset + first / 4, 0, mask.seed);
}

/**
 * Adds PACK neighbours under their mask. A dropped NaN or infinity adds nothing.
 *
 * @param[in,out] sum   (PACK), added to
 * @param[in]     x     (PACK)
 * @param         first index of x[0] in its call, a multiple of 4
 * @param         mask  which mask
 */
static __device__ inline void add_masked(float sum[PACK], const float x[PACK], size_t first,
                                         Mask mask) {
    for (int i = 0; i < PACK; i += 4) {
        Philox random = {{0, 0, 0, 0}};
        if (mask.threshold > 0) {
            random = mask_words(mask, first + i);
        }
        for (int j = 0; j < 4; j++) {
            if (random.word[j] >= mask.threshold) {
                sum[i + j] += mask.scale * x[i + j];
            }
        }
    }
}

/**
 * The same for one number, element `i` of its call: where rows do not begin with a whole pack.
 *
 * @return the new sum: `sum` is a copy
 */
[[nodiscard]] static __device__ inline float add_masked_one(float sum, float x, size_t i,
                                                            Mask mask) {
    bool kept = mask.threshold == 0 || mask_words(mask, i - i % 4).word[i % 4] >= mask.threshold;
    return kept ? sum + mask.scale * x : sum;
}

#endif
