/**
 * @file cudasim_rounded.h
 * @brief Arithmetic and conversions with the rounding in their names: to nearest (rn), towards zero
 * (rz), up (ru), down (rd). Included by cudasim_kernel.h.
 * @ingroup cudasim
 */
#ifndef CUDASIM_ROUNDED_H
#define CUDASIM_ROUNDED_H

#include <cfenv>

/** @cond */
/* The processor's own rounding. What `value` reads is volatile, so it is computed in between. */
template <class Type, class Function>
CUDASIM_DEVICE Type cudasim_rounded(int mode, Function value) {
    int before = fegetround();
    fesetround(mode);
    volatile Type result = value();
    fesetround(before);
    return result;
}

#define CUDASIM_TOWARDS(Type, name, mode, parameters, copies, expression)                          \
    CUDASIM_DEVICE Type name parameters {                                                          \
        copies return cudasim_rounded<Type>(mode, [&]() CUDASIM_UNCHECKED { return expression; }); \
    }
#define CUDASIM_ROUNDINGS(Type, name, parameters, copies, expression)                              \
    CUDASIM_DEVICE Type name##_rn parameters {                                                     \
        copies volatile Type result = expression; /* it does not become a part of an fma */        \
        return result;                                                                             \
    }                                                                                              \
    CUDASIM_TOWARDS(Type, name##_rz, FE_TOWARDZERO, parameters, copies, expression)                \
    CUDASIM_TOWARDS(Type, name##_ru, FE_UPWARD, parameters, copies, expression)                    \
    CUDASIM_TOWARDS(Type, name##_rd, FE_DOWNWARD, parameters, copies, expression)

#define CUDASIM_ONE(Type, name, expression)                                                        \
    CUDASIM_ROUNDINGS(Type, name, (Type a), volatile Type x = a;, expression)
#define CUDASIM_TWO(Type, name, expression)                                                        \
    CUDASIM_ROUNDINGS(Type, name, (Type a, Type b), volatile Type x = a; volatile Type y = b;      \
                      , expression)
#define CUDASIM_FMA(Type, name, expression)                                                        \
    CUDASIM_ROUNDINGS(Type, name, (Type a, Type b, Type c), volatile Type x = a;                   \
                      volatile Type y = b; volatile Type z = c;, expression)

CUDASIM_TWO(float, __fadd, x + y)
CUDASIM_TWO(float, __fsub, x - y)
CUDASIM_TWO(float, __fmul, x *y)
CUDASIM_TWO(float, __fdiv, x / y)
CUDASIM_ONE(float, __frcp, 1 / x)
CUDASIM_ONE(float, __fsqrt, sqrtf(x))
CUDASIM_FMA(float, __fmaf, fmaf(x, y, z))
CUDASIM_TWO(double, __dadd, x + y)
CUDASIM_TWO(double, __dsub, x - y)
CUDASIM_TWO(double, __dmul, x *y)
CUDASIM_TWO(double, __ddiv, x / y)
CUDASIM_ONE(double, __drcp, 1 / x)
CUDASIM_ONE(double, __dsqrt, sqrt(x))
CUDASIM_FMA(double, __fma, fma(x, y, z))
CUDASIM_DEVICE float __frsqrt_rn(float x) {
    return (float)(1 / sqrt((double)x));
}

/* From a wider or an integer type. */
#define CUDASIM_FROM(From, name, To)                                                               \
    CUDASIM_ROUNDINGS(To, name, (From a), volatile From x = a;, (To)x)
CUDASIM_FROM(double, __double2float, float)
CUDASIM_FROM(int, __int2float, float)
CUDASIM_FROM(unsigned, __uint2float, float)
CUDASIM_FROM(long long, __ll2float, float)
CUDASIM_FROM(unsigned long long, __ull2float, float)
CUDASIM_FROM(long long, __ll2double, double)
CUDASIM_FROM(unsigned long long, __ull2double, double)
CUDASIM_DEVICE double __int2double_rn(int x) {
    return x;
}
CUDASIM_DEVICE double __uint2double_rn(unsigned x) {
    return x;
}

/* To an integer: what does not fit becomes the nearest that does. NaN becomes 0 where both types
   have 32 bits, else the highest bit alone. */
template <class To, class From> CUDASIM_DEVICE To cudasim_to_integer(From x) {
    const int bits = 8 * (int)sizeof(To);
    const To least = std::is_signed<To>::value ? (To)(1ull << (bits - 1)) : 0;
    const From beyond = (From)ldexp(1.0, std::is_signed<To>::value ? bits - 1 : bits);
    if (x != x) {
        return sizeof(To) == 4 && sizeof(From) == 4 ? (To)0 : (To)(1ull << (bits - 1));
    }
    if (x <= (std::is_signed<To>::value ? -beyond : 0)) {
        return least;
    }
    return x >= beyond ? (To)~least : (To)x;
}
#define CUDASIM_TO(From, name, To)                                                                 \
    CUDASIM_DEVICE To name##_rn(From x) {                                                          \
        return cudasim_to_integer<To>((From)nearbyint(x));                                         \
    }                                                                                              \
    CUDASIM_DEVICE To name##_rz(From x) {                                                          \
        return cudasim_to_integer<To>((From)trunc(x));                                             \
    }                                                                                              \
    CUDASIM_DEVICE To name##_ru(From x) {                                                          \
        return cudasim_to_integer<To>((From)ceil(x));                                              \
    }                                                                                              \
    CUDASIM_DEVICE To name##_rd(From x) {                                                          \
        return cudasim_to_integer<To>((From)floor(x));                                             \
    }
CUDASIM_TO(float, __float2int, int)
CUDASIM_TO(float, __float2uint, unsigned)
CUDASIM_TO(float, __float2ll, long long)
CUDASIM_TO(float, __float2ull, unsigned long long)
CUDASIM_TO(double, __double2int, int)
CUDASIM_TO(double, __double2uint, unsigned)
CUDASIM_TO(double, __double2ll, long long)
CUDASIM_TO(double, __double2ull, unsigned long long)
/** @endcond */

#endif
