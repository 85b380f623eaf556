/**
 * @file cudasim_narrow_rounded.h
 * @brief Conversions of 16-bit numbers with the rounding in their names. Included by cuda_fp16.h
 * and cuda_bf16.h.
 * @ingroup cudasim
 *
 * To nearest (rn), towards zero (rz), up (ru), down (rd). Towards zero, what is too large becomes
 * the largest number instead of infinity. An integer that does not fit becomes the nearest that
 * does; NaN becomes 0, and of 64 bits the highest alone.
 */
#ifndef CUDASIM_NARROW_ROUNDED_H
#define CUDASIM_NARROW_ROUNDED_H

/** @cond */
CUDASIM_SIDES_BEGIN

enum { CUDASIM_DOWN = -1, CUDASIM_TO_ZERO = 0, CUDASIM_UP = 1 };

/* The number as a double, rounded to odd: on the same side of each 16-bit number. */
template <class Number> CUDASIM_DEVICE double cudasim_odd_double(Number x) {
    if constexpr (sizeof(Number) < 8) {
        return (double)x;
    } else {
        return x < 0 ? -cudasim_odd_integer(-(unsigned long long)x)
                     : cudasim_odd_integer((unsigned long long)x);
    }
}

/* From the nearest one step in the bits, if the nearest is on the wrong side. The nearest has the
   sign of x, so a step away from zero adds 1, also from zero and to infinity. */
template <class Number, class Bits>
CUDASIM_DEVICE Number cudasim_narrow_towards(int way, double x) {
    Number nearest(x);
    double back = (double)float(nearest);
    bool below = way == CUDASIM_DOWN || (way == CUDASIM_TO_ZERO && x > 0);
    if (back == x || x != x || (below ? back < x : back > x)) {
        return nearest;
    }
    Bits bits = nearest;
    bits.x = (unsigned short)(bits.x + (below == (x < 0) ? 1 : -1));
    return Number(bits);
}

/* A whole number; the float holds any that is small enough to matter. */
template <class To> CUDASIM_DEVICE To cudasim_narrow_to_integer(float x) {
    return x != x && sizeof(To) < 8 ? (To)0 : cudasim_to_integer<To>(x);
}

/* Named by the stem of the nearest: stem##_rz and so on. */
#define CUDASIM_TO_NARROW_TOWARDS(From, stem, Number, Bits)                                        \
    CUDASIM_DEVICE Number stem##_rz(From value) {                                                  \
        return cudasim_narrow_towards<Number, Bits>(CUDASIM_TO_ZERO, cudasim_odd_double(value));   \
    }                                                                                              \
    CUDASIM_DEVICE Number stem##_ru(From value) {                                                  \
        return cudasim_narrow_towards<Number, Bits>(CUDASIM_UP, cudasim_odd_double(value));        \
    }                                                                                              \
    CUDASIM_DEVICE Number stem##_rd(From value) {                                                  \
        return cudasim_narrow_towards<Number, Bits>(CUDASIM_DOWN, cudasim_odd_double(value));      \
    }
#define CUDASIM_TO_NARROW(From, stem, Number, Bits)                                                \
    CUDASIM_DEVICE Number stem##_rn(From value) {                                                  \
        return Number(value);                                                                      \
    }                                                                                              \
    CUDASIM_TO_NARROW_TOWARDS(From, stem, Number, Bits)
#define CUDASIM_FROM_NARROW(Number, name, To, whole)                                               \
    CUDASIM_DEVICE To name(Number value) {                                                         \
        return cudasim_narrow_to_integer<To>(whole(float(value)));                                 \
    }
#define CUDASIM_FROM_NARROW_ROUNDED(Number, stem, To)                                              \
    CUDASIM_FROM_NARROW(Number, stem##_rn, To, rintf)                                              \
    CUDASIM_FROM_NARROW(Number, stem##_rz, To, truncf)                                             \
    CUDASIM_FROM_NARROW(Number, stem##_ru, To, ceilf)                                              \
    CUDASIM_FROM_NARROW(Number, stem##_rd, To, floorf)

/* All of a type: __int2half_rz, __half2int_rz, and so on. */
#define CUDASIM_NARROW_CONVERSIONS(Number, Bits, name)                                             \
    CUDASIM_TO_NARROW_TOWARDS(float, __float2##name, Number, Bits)                                 \
    CUDASIM_TO_NARROW(short, __short2##name, Number, Bits)                                         \
    CUDASIM_TO_NARROW(unsigned short, __ushort2##name, Number, Bits)                               \
    CUDASIM_TO_NARROW(int, __int2##name, Number, Bits)                                             \
    CUDASIM_TO_NARROW(unsigned, __uint2##name, Number, Bits)                                       \
    CUDASIM_TO_NARROW(long long, __ll2##name, Number, Bits)                                        \
    CUDASIM_TO_NARROW(unsigned long long, __ull2##name, Number, Bits)                              \
    CUDASIM_FROM_NARROW(Number, __##name##2char_rz, signed char, truncf)                           \
    CUDASIM_FROM_NARROW(Number, __##name##2uchar_rz, unsigned char, truncf)                        \
    CUDASIM_FROM_NARROW_ROUNDED(Number, __##name##2short, short)                                   \
    CUDASIM_FROM_NARROW_ROUNDED(Number, __##name##2ushort, unsigned short)                         \
    CUDASIM_FROM_NARROW_ROUNDED(Number, __##name##2int, int)                                       \
    CUDASIM_FROM_NARROW_ROUNDED(Number, __##name##2uint, unsigned)                                 \
    CUDASIM_FROM_NARROW_ROUNDED(Number, __##name##2ll, long long)                                  \
    CUDASIM_FROM_NARROW_ROUNDED(Number, __##name##2ull, unsigned long long)

CUDASIM_SIDES_END
/** @endcond */

#endif
