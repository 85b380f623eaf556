/**
 * @file cudasim_round.h
 * @brief fp16 and bf16 as bit patterns: conversions as a GPU does them.
 * @ingroup cudasim
 *
 * Rounding is to the nearest, ties to even. A NaN becomes the one NaN that a GPU makes, 0x7fff.
 */
#ifndef CUDASIM_ROUND_H
#define CUDASIM_ROUND_H

#include "cuda_runtime.h"

/** @cond */
#ifdef __cplusplus
#define CUDASIM_INTRINSIC __attribute__((always_inline, unused)) static inline
#else
#define CUDASIM_INTRINSIC __attribute__((unused)) static inline
#endif
CUDASIM_SIDES_BEGIN
/** @endcond */

/** The bits of a float. */
CUDASIM_INTRINSIC unsigned cudasim_float_bits(float x) {
    unsigned bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}

/** The float with these bits. */
CUDASIM_INTRINSIC float cudasim_bits_float(unsigned bits) {
    float x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

/** fp16 to float; exact. */
CUDASIM_INTRINSIC float cudasim_half_to_float(unsigned short half) {
    unsigned sign = (unsigned)(half & 0x8000) << 16, magnitude = half & 0x7fffu;
    if (magnitude > 0x7c00) {
        return cudasim_bits_float(0x7fffffffu);
    }
    if (magnitude == 0x7c00) {
        return cudasim_bits_float(sign | 0x7f800000u);
    }
    if (magnitude < 0x0400) {
        /* Subnormal: a count of 2^-24. */
        return cudasim_bits_float(sign | cudasim_float_bits((float)magnitude * 0x1p-24f));
    }
    /* The exponent's bias grows from 15 to 127. */
    return cudasim_bits_float(sign | ((magnitude << 13) + (112u << 23)));
}

/** float to fp16. */
CUDASIM_INTRINSIC unsigned short cudasim_half_from_float(float x) {
    unsigned bits = cudasim_float_bits(x), sign = bits >> 16 & 0x8000u, rest = bits & 0x7fffffffu;
    if (rest > 0x7f800000u) {
        return 0x7fff;
    }
    if (rest >= 0x477ff000u) {
        /* From 65520 on infinity is the nearest. */
        return (unsigned short)(sign | 0x7c00u);
    }
    if (rest < 0x38800000u) {
        /* Subnormal: next to 0.5 a float counts in 2^-24, so the addition rounds. */
        unsigned rounded = cudasim_float_bits(cudasim_bits_float(rest) + 0.5f);
        return (unsigned short)(sign | (rounded - cudasim_float_bits(0.5f)));
    }
    /* 13 bits go. Just under half of the last bit, and one more if that bit is set, carry into it
       when the number has to go up. */
    unsigned rounded = rest + 0x0fffu + (rest >> 13 & 1u);
    return (unsigned short)(sign | ((rounded - (112u << 23)) >> 13));
}

/** bf16 to float; exact: a bf16 is the upper half of a float. */
CUDASIM_INTRINSIC float cudasim_bf16_to_float(unsigned short bf16) {
    return cudasim_bits_float((unsigned)bf16 << 16);
}

/** float to bf16. */
CUDASIM_INTRINSIC unsigned short cudasim_bf16_from_float(float x) {
    unsigned bits = cudasim_float_bits(x);
    if ((bits & 0x7fffffffu) > 0x7f800000u) {
        return 0x7fff;
    }
    return (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/**
 * double to float, rounded to odd: if no float equals the number, of the two around it the one
 * whose last bit is 1. Rounding the result to fp16 or bf16 then gives what rounding once would have
 * given, which is not so after rounding to the nearest: that can make a tie out of none.
 */
CUDASIM_INTRINSIC float cudasim_odd_float(double x) {
    float nearest = (float)x;
    if ((double)nearest == x || x != x) {
        return nearest;
    }
    unsigned bits = cudasim_float_bits(nearest);
    bits -= fabs((double)nearest) > fabs(x);
    return cudasim_bits_float(bits | 1u);
}

/** a + b, rounded to odd: see cudasim_odd_float(). */
CUDASIM_INTRINSIC double cudasim_odd_sum(double a, double b) {
    double sum = a + b;
    double b_taken = sum - a;
    double lost = (a - (sum - b_taken)) + (b - b_taken);
    unsigned long long bits;
    __builtin_memcpy(&bits, &sum, sizeof bits);
    /* An odd one is right on either side. What was lost of infinity or NaN is NaN. */
    if ((bits & 1) == 0 && (lost > 0 || lost < 0)) {
        bits += (lost > 0) == (sum > 0) ? 1 : -1ull;
        __builtin_memcpy(&sum, &bits, sizeof sum);
    }
    return sum;
}

/** An integer as a double, rounded to odd. */
CUDASIM_INTRINSIC double cudasim_odd_integer(unsigned long long x) {
    unsigned long long sticky = x >> 11 | ((x & 0x7ff) != 0);
    return x >> 53 == 0 ? (double)x : (double)sticky * 0x1p11;
}

/** @cond */
CUDASIM_SIDES_END
/** @endcond */

#endif
