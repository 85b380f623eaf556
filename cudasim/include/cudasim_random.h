/**
 * @file cudasim_random.h
 * @brief From random words to numbers, as cuRAND does it in kernels and for the host.
 * @ingroup cudasim
 *
 *     Philox     J. Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011
 *     XORWOW     G. Marsaglia, "Xorshift RNGs", 2003
 *
 * Functions of values alone: check mode does not look into them, so a state in memory is read and
 * written by who calls them.
 */
#ifndef CUDASIM_RANDOM_H
#define CUDASIM_RANDOM_H

#include "cudasim_sides.h"

/** @cond */
CUDASIM_SIDES_BEGIN
#ifdef __cplusplus
#define CUDASIM_PURE CUDASIM_DEVICE
#else
#include <math.h>
#define CUDASIM_PURE __attribute__((unused)) static inline
#endif

enum { CUDASIM_WEYL = 362437 /* that XORWOW's second sequence grows by */ };

/* ---- generators ------------------------------------------------------------------------------ */

CUDASIM_PURE void cudasim_philox_round(unsigned c[4], unsigned k0, unsigned k1) {
    unsigned long long a = 0xD2511F53ull * c[0], b = 0xCD9E8D57ull * c[2];
    unsigned c1 = c[1], c3 = c[3];
    c[0] = (unsigned)(b >> 32) ^ c1 ^ k0;
    c[1] = (unsigned)b;
    c[2] = (unsigned)(a >> 32) ^ c3 ^ k1;
    c[3] = (unsigned)a;
}

/* A counter becomes its four words. */
CUDASIM_PURE void cudasim_philox_block(unsigned c[4], unsigned k0, unsigned k1) {
    for (unsigned round = 0; round < 10; round++) {
        cudasim_philox_round(c, k0 + round * 0x9E3779B9u, k1 + round * 0xBB67AE85u);
    }
}

CUDASIM_PURE void cudasim_xorwow_seed(unsigned long long seed, unsigned *d, unsigned v[5]) {
    unsigned a = 1099087573u * ((unsigned)seed ^ 0xAAD26B49u);
    unsigned b = 2591861531u * ((unsigned)(seed >> 32) ^ 0xF7DCEFDDu);
    *d = 6615241u + a + b;
    v[0] = 123456789u + a;
    v[1] = 362436069u ^ a;
    v[2] = 521288629u + b;
    v[3] = 88675123u ^ b;
    v[4] = 5783321u + a;
}

/* Of the shift register; the word is v[4] + d after it. */
CUDASIM_PURE void cudasim_xorwow_step(unsigned v[5]) {
    unsigned t = v[0] ^ v[0] >> 2;
    for (int i = 0; i < 4; i++) {
        v[i] = v[i + 1];
    }
    v[4] = v[4] ^ v[4] << 4 ^ t ^ t << 1;
}

/* ---- uniform numbers: 0 is none of them, 1 is ------------------------------------------------ */

CUDASIM_PURE float cudasim_uniform(unsigned x) {
    return (float)x * 0x1p-32f + 0x1p-33f;
}
/* Of 53 bits. */
CUDASIM_PURE double cudasim_uniform_double(unsigned x, unsigned y) {
    return (double)(x ^ (unsigned long long)y << 21) * 0x1p-53 + 0x1p-54;
}

/* ---- normal numbers, by Box and Muller ------------------------------------------------------- */

CUDASIM_PURE void cudasim_normal(const unsigned x[2], float normal[2]) {
    const float turn = 0x1p-32f * 6.2831855f;
    float radius = sqrtf(-2 * logf(cudasim_uniform(x[0])));
    float angle = (float)x[1] * turn + turn / 2;
    normal[0] = radius * sinf(angle);
    normal[1] = radius * cosf(angle);
}
CUDASIM_PURE void cudasim_normal_double(const unsigned x[4], double normal[2]) {
    const double pi = 3.14159265358979323846;
    double radius = sqrt(-2 * log(cudasim_uniform_double(x[0], x[1])));
    double angle = 2 * cudasim_uniform_double(x[2], x[3]) * pi;
    normal[0] = radius * sin(angle);
    normal[1] = radius * cos(angle);
}
CUDASIM_SIDES_END
/** @endcond */

#endif
