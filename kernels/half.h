/**
 * @file half.h
 * @brief fp16 and bf16 as bit patterns: conversion from and to float, round to nearest even.
 * @ingroup kernels
 *
 * Our own code and not the compiler's `_Float16`: it is the same on every machine (clang 14 has
 * none on x86-64), and being free of branches it becomes vector code inside a loop. Bit-exact for
 * all 65,536 patterns and all floats (half_test.c): subnormals, infinities and NaN included.
 */
#ifndef KERNELS_HALF_H
#define KERNELS_HALF_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined __F16C__ && defined __GNUC__
#include <immintrin.h>
#endif

#include "kernels/base.h"

/** The bits of a float. */
static inline uint32_t float_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/** The float with these bits. */
static inline float float_from_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/**
 * fp16 to float; exact. A NaN keeps its sign and payload (and is made quiet).
 *
 * The exponent moves from bias 15 to bias 127. A subnormal is a count of 2^-24, converted as the
 * whole number that it is: read as the bits of a float it would be a subnormal float, and of those
 * some processors take a hundred cycles to multiply one.
 */
static inline float half_to_float(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    uint32_t magnitude = half & 0x7fffu;
    uint32_t normal = (magnitude << 13) + 0x38000000u;
    uint32_t subnormal = float_bits((float)(int32_t)magnitude * 0x1p-24f);
    uint32_t special = normal | 0x7f800000u | (magnitude > 0x7c00u ? 0x00400000u : 0u);
    uint32_t bits = magnitude < 0x0400u ? subnormal : normal;
    bits = magnitude >= 0x7c00u ? special : bits;
    return float_from_bits(sign | bits);
}

/**
 * float to fp16, to the nearest, ties to even. From 65520 on the result is infinity; a NaN stays a
 * NaN, with the top bits of its payload.
 *
 * Normal results round in integers: adding 0xfff plus the lowest kept bit carries exactly when
 * the nearest neighbour lies above. For subnormal results the float adder rounds: next to 0.5 the
 * spacing of floats is 2^-24, that of fp16's subnormals.
 */
static inline uint16_t half_from_float(float x) {
    uint32_t bits = float_bits(x);
    uint32_t sign = bits >> 16 & 0x8000u;
    uint32_t magnitude = bits & 0x7fffffffu;
    uint32_t normal = (magnitude + 0xfffu + (magnitude >> 13 & 1u) - 0x38000000u) >> 13;
    uint32_t subnormal = float_bits(float_from_bits(magnitude) + 0.5f) - 0x3f000000u;
    uint32_t nan = 0x7e00u | (magnitude >> 13 & 0x3ffu);
    uint32_t half = magnitude < 0x38800000u ? subnormal : normal;
    half = magnitude >= 0x477ff000u ? 0x7c00u : half;
    half = magnitude > 0x7f800000u ? nan : half;
    return (uint16_t)(sign | half);
}

/** bf16 to float; exact: a bf16 is the upper half of a float. */
static inline float bf16_to_float(uint16_t bf16) {
    return float_from_bits((uint32_t)bf16 << 16);
}

/** float to bf16, to the nearest, ties to even; a NaN stays a (quiet) NaN. */
static inline uint16_t bf16_from_float(float x) {
    uint32_t bits = float_bits(x);
    uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    uint32_t nan = bits >> 16 | 0x0040u;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

/**
 * A run of fp16 to floats. Where the CPU has instructions for it, ten times the speed of the above,
 * with the same bits; a compiler does not find them by itself.
 */
static inline void half_run_to_float(float *to, const uint16_t *from, size_t n) {
    size_t i = 0;
#if defined __F16C__ && defined __GNUC__
    for (; i + 8 <= n; i += 8) {
        _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + i))));
    }
#endif
    for (; i < n; i++) {
        to[i] = half_to_float(from[i]);
    }
}

/** A run of floats to fp16, to the nearest, ties to even. */
static inline void half_run_from_float(uint16_t *to, const float *from, size_t n) {
    size_t i = 0;
#if defined __F16C__ && defined __GNUC__
    for (; i + 8 <= n; i += 8) {
        __m128i half = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT);
        _mm_storeu_si128((__m128i *)(to + i), half);
    }
#endif
    for (; i < n; i++) {
        to[i] = half_from_float(from[i]);
    }
}

/** x as a Real of that precision holds it. */
static inline float precision_round(Precision precision, float x) {
    return precision == F16    ? half_to_float(half_from_float(x))
           : precision == BF16 ? bf16_to_float(bf16_from_float(x))
                               : x;
}

#endif
