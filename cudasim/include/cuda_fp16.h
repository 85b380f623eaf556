/**
 * @file cuda_fp16.h
 * @brief fp16 as cudasim offers it: `__half` and `__half2`, named as NVIDIA does.
 * @ingroup cudasim
 *
 *     from numbers  __float2half __double2half __float2half_rn
 *     to numbers    __half2float
 *     and back      from and to short, ushort, int, uint, ll, ull: __int2half_rn,
 *                   __half2int_rn, and the same with _rz, _ru, _rd; __float2half_rz, _ru,
 *                   _rd; __half2char_rz, __half2uchar_rz
 *     bits          __ushort_as_half __half_as_ushort
 *                   __short_as_half __half_as_short
 *     to pairs      __floats2half2_rn __float22half2_rn __float2half2_rn
 *                   __halves2half2 __half2half2
 *     from pairs    __half22float2 __low2half __high2half
 *     exchanges     __low2half2 __high2half2 __lows2half2 __highs2half2
 *     and all of cudasim_narrow.h
 *
 * C sees plain structs. As in NVIDIA's header a mixed expression such as `h + 1.0f` is ambiguous:
 * say which of the two types is meant.
 */
#ifndef CUDASIM_CUDA_FP16_H
#define CUDASIM_CUDA_FP16_H

#include "cudasim_round.h"

/** The bits of an fp16. */
typedef struct __half_raw {
    unsigned short x; /**< sign, 5 bits of exponent, 10 of mantissa */
} __align__(2) __half_raw;

/** The bits of two. */
typedef struct __half2_raw {
    unsigned short x; /**< first */
    unsigned short y; /**< second */
} __align__(4) __half2_raw;

#ifndef __cplusplus
typedef __half_raw __half;   /**< an fp16 */
typedef __half2_raw __half2; /**< two, aligned to 4 bytes */
#else

/** @cond */
CUDASIM_SIDES_BEGIN

#define Narrow __half
#define Narrow2 __half2
#define NarrowRaw __half_raw
#define Narrow2Raw __half2_raw
#define narrow_to_float cudasim_half_to_float
#define narrow_from_float cudasim_half_from_float
#include "cudasim_narrow.h"
#include "cudasim_narrow_rounded.h"

typedef __half half;
typedef __half2 half2;
typedef __half nv_half;
typedef __half2 nv_half2;

CUDASIM_INTRINSIC __half __float2half(float x) {
    return __half(x);
}
CUDASIM_INTRINSIC __half __float2half_rn(float x) {
    return __half(x);
}
CUDASIM_INTRINSIC __half __double2half(double x) {
    return __half(x);
}
CUDASIM_INTRINSIC float __half2float(__half h) {
    return float(h);
}
CUDASIM_NARROW_CONVERSIONS(__half, __half_raw, half)
CUDASIM_INTRINSIC __half __ushort_as_half(unsigned short bits) {
    return __half(__half_raw{bits});
}
CUDASIM_INTRINSIC __half __short_as_half(short bits) {
    return __ushort_as_half((unsigned short)bits);
}
CUDASIM_INTRINSIC unsigned short __half_as_ushort(__half h) {
    return __half_raw(h).x;
}
CUDASIM_INTRINSIC short __half_as_short(__half h) {
    return (short)__half_as_ushort(h);
}

CUDASIM_INTRINSIC __half2 __halves2half2(__half a, __half b) {
    return __half2(a, b);
}
CUDASIM_INTRINSIC __half2 __half2half2(__half a) {
    return __half2(a, a);
}
CUDASIM_INTRINSIC __half2 __floats2half2_rn(float a, float b) {
    return __half2(__half(a), __half(b));
}
CUDASIM_INTRINSIC __half2 __float22half2_rn(float2 a) {
    return __floats2half2_rn(a.x, a.y);
}
CUDASIM_INTRINSIC __half2 __float2half2_rn(float a) {
    return __floats2half2_rn(a, a);
}
CUDASIM_INTRINSIC float2 __half22float2(__half2 a) {
    return make_float2(float(a.x), float(a.y));
}
CUDASIM_INTRINSIC __half __low2half(__half2 a) {
    return a.x;
}
CUDASIM_INTRINSIC __half __high2half(__half2 a) {
    return a.y;
}
CUDASIM_INTRINSIC __half2 __low2half2(__half2 a) {
    return __half2(a.x, a.x);
}
CUDASIM_INTRINSIC __half2 __high2half2(__half2 a) {
    return __half2(a.y, a.y);
}
CUDASIM_INTRINSIC __half2 __lows2half2(__half2 a, __half2 b) {
    return __half2(a.x, b.x);
}
CUDASIM_INTRINSIC __half2 __highs2half2(__half2 a, __half2 b) {
    return __half2(a.y, b.y);
}
CUDASIM_INTRINSIC __half2 make_half2(__half a, __half b) {
    return __half2(a, b);
}

CUDASIM_SIDES_END
#define CUDART_INF_FP16 __ushort_as_half((unsigned short)0x7C00)
#define CUDART_NAN_FP16 __ushort_as_half((unsigned short)0x7FFF)
#define CUDART_ZERO_FP16 __ushort_as_half((unsigned short)0)
#define CUDART_ONE_FP16 __ushort_as_half((unsigned short)0x3C00)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half((unsigned short)0x7BFF)
/** @endcond */
#endif

#endif
