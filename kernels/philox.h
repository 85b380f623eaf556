/**
 * @file philox.h
 * @brief Philox4x32-10: random numbers as a pure function of (seed, counter).
 * @ingroup kernels
 *
 * No state: any thread, on any device, draws the number it needs, and who knows the counter can
 * draw it again. That is how dropout needs no stored mask, and how a checkpointed block sees the
 * same mask twice.
 *
 * Source: J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel random numbers: as easy as 1, 2, 3",
 * SC 2011, section 3.3 and table 2. philox_test.c holds the published test vectors.
 */
#ifndef KERNELS_PHILOX_H
#define KERNELS_PHILOX_H

#include <stdint.h>

/** @cond */
#if defined __CUDACC__
#define PHILOX_FUNCTION static __host__ __device__ inline
#else
#define PHILOX_FUNCTION static inline
#endif
/** @endcond */

/** Four random words: what one counter gives. */
typedef struct Philox {
    uint32_t word[4]; /**< uniform in [0, 2^32) */
} Philox;

/**
 * Ten rounds over a 128-bit counter with a 64-bit key.
 *
 * @param counter_low  words 0 (low half) and 1 (high half) of the counter
 * @param counter_high words 2 and 3
 * @param key          the two key words, low half first
 */
PHILOX_FUNCTION Philox philox(uint64_t counter_low, uint64_t counter_high, uint64_t key) {
    uint32_t x0 = (uint32_t)counter_low, x1 = (uint32_t)(counter_low >> 32);
    uint32_t x2 = (uint32_t)counter_high, x3 = (uint32_t)(counter_high >> 32);
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        uint64_t a = (uint64_t)0xD2511F53u * x0;
        uint64_t b = (uint64_t)0xCD9E8D57u * x2;
        x0 = (uint32_t)(b >> 32) ^ x1 ^ k0;
        x1 = (uint32_t)b;
        x2 = (uint32_t)(a >> 32) ^ x3 ^ k1;
        x3 = (uint32_t)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    Philox result = {{x0, x1, x2, x3}};
    return result;
}

/** A word as a float in [0, 1): its upper 24 bits, so that every value is exact. */
PHILOX_FUNCTION float philox_uniform(uint32_t word) {
    return (float)(word >> 8) * 0x1p-24f;
}

#endif
