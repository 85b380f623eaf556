/**
 * @file cuda_bf16.h
 * @brief bf16 as cudasim offers it: `__nv_bfloat16` and `__nv_bfloat162`, named as NVIDIA does.
 * @ingroup cudasim
 *
 *     from numbers  __float2bfloat16 __double2bfloat16 __float2bfloat16_rn
 *     to numbers    __bfloat162float
 *     and back      from and to short, ushort, int, uint, ll, ull: __int2bfloat16_rn,
 *                   __bfloat162int_rn, and the same with _rz, _ru, _rd; __float2bfloat16_rz, _ru,
 *                   _rd; __bfloat162char_rz, __bfloat162uchar_rz
 *     bits          __ushort_as_bfloat16 __bfloat16_as_ushort
 *                   __short_as_bfloat16 __bfloat16_as_short
 *     to pairs      __floats2bfloat162_rn __float22bfloat162_rn __float2bfloat162_rn
 *                   __halves2bfloat162 __bfloat162bfloat162
 *     from pairs    __bfloat1622float2 __low2bfloat16 __high2bfloat16
 *     exchanges     __low2bfloat162 __high2bfloat162 __lows2bfloat162 __highs2bfloat162
 *     and all of cudasim_narrow.h
 *
 * C sees plain structs. As in NVIDIA's header a mixed expression such as `h + 1.0f` is ambiguous:
 * say which of the two types is meant.
 */
#ifndef CUDASIM_CUDA_BF16_H
#define CUDASIM_CUDA_BF16_H

#include "cudasim_round.h"

/** The bits of a bf16. */
typedef struct __nv_bfloat16_raw {
    unsigned short x; /**< sign, 8 bits of exponent, 7 of mantissa */
} __align__(2) __nv_bfloat16_raw;

/** The bits of two. */
typedef struct __nv_bfloat162_raw {
    unsigned short x; /**< first */
    unsigned short y; /**< second */
} __align__(4) __nv_bfloat162_raw;

#ifndef __cplusplus
typedef __nv_bfloat16_raw __nv_bfloat16;   /**< a bf16 */
typedef __nv_bfloat162_raw __nv_bfloat162; /**< two, aligned to 4 bytes */
#else

/** @cond */
CUDASIM_SIDES_BEGIN

#define Narrow __nv_bfloat16
#define Narrow2 __nv_bfloat162
#define NarrowRaw __nv_bfloat16_raw
#define Narrow2Raw __nv_bfloat162_raw
#define narrow_to_float cudasim_bf16_to_float
#define narrow_from_float cudasim_bf16_from_float
#include "cudasim_narrow.h"
#include "cudasim_narrow_rounded.h"

typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

CUDASIM_INTRINSIC __nv_bfloat16 __float2bfloat16(float x) {
    return __nv_bfloat16(x);
}
CUDASIM_INTRINSIC __nv_bfloat16 __float2bfloat16_rn(float x) {
    return __nv_bfloat16(x);
}
CUDASIM_INTRINSIC __nv_bfloat16 __double2bfloat16(double x) {
    return __nv_bfloat16(x);
}
CUDASIM_INTRINSIC float __bfloat162float(__nv_bfloat16 h) {
    return float(h);
}
CUDASIM_NARROW_CONVERSIONS(__nv_bfloat16, __nv_bfloat16_raw, bfloat16)
CUDASIM_INTRINSIC __nv_bfloat16 __ushort_as_bfloat16(unsigned short bits) {
    return __nv_bfloat16(__nv_bfloat16_raw{bits});
}
CUDASIM_INTRINSIC __nv_bfloat16 __short_as_bfloat16(short bits) {
    return __ushort_as_bfloat16((unsigned short)bits);
}
CUDASIM_INTRINSIC unsigned short __bfloat16_as_ushort(__nv_bfloat16 h) {
    return __nv_bfloat16_raw(h).x;
}
CUDASIM_INTRINSIC short __bfloat16_as_short(__nv_bfloat16 h) {
    return (short)__bfloat16_as_ushort(h);
}

CUDASIM_INTRINSIC __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) {
    return __nv_bfloat162(a, b);
}
CUDASIM_INTRINSIC __nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16 a) {
    return __nv_bfloat162(a, a);
}
CUDASIM_INTRINSIC __nv_bfloat162 __floats2bfloat162_rn(float a, float b) {
    return __nv_bfloat162(__nv_bfloat16(a), __nv_bfloat16(b));
}
CUDASIM_INTRINSIC __nv_bfloat162 __float22bfloat162_rn(float2 a) {
    return __floats2bfloat162_rn(a.x, a.y);
}
CUDASIM_INTRINSIC __nv_bfloat162 __float2bfloat162_rn(float a) {
    return __floats2bfloat162_rn(a, a);
}
CUDASIM_INTRINSIC float2 __bfloat1622float2(__nv_bfloat162 a) {
    return make_float2(float(a.x), float(a.y));
}
CUDASIM_INTRINSIC __nv_bfloat16 __low2bfloat16(__nv_bfloat162 a) {
    return a.x;
}
CUDASIM_INTRINSIC __nv_bfloat16 __high2bfloat16(__nv_bfloat162 a) {
    return a.y;
}
CUDASIM_INTRINSIC __nv_bfloat162 __low2bfloat162(__nv_bfloat162 a) {
    return __nv_bfloat162(a.x, a.x);
}
CUDASIM_INTRINSIC __nv_bfloat162 __high2bfloat162(__nv_bfloat162 a) {
    return __nv_bfloat162(a.y, a.y);
}
CUDASIM_INTRINSIC __nv_bfloat162 __lows2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
    return __nv_bfloat162(a.x, b.x);
}
CUDASIM_INTRINSIC __nv_bfloat162 __highs2bfloat162(__nv_bfloat162 a, __nv_bfloat162 b) {
    return __nv_bfloat162(a.y, b.y);
}
CUDASIM_INTRINSIC __nv_bfloat162 make_bfloat162(__nv_bfloat16 a, __nv_bfloat16 b) {
    return __nv_bfloat162(a, b);
}

CUDASIM_SIDES_END
/** @endcond */
#endif

#endif
