/**
 * @file cudasim_word.h
 * @brief CUDA's minima and maxima of two and three, of words and of two 16-bit numbers in a word.
 * Included by cudasim_kernel.h.
 * @ingroup cudasim
 */
#ifndef CUDASIM_WORD_H
#define CUDASIM_WORD_H

#include "cudasim_integer.h"

/** @cond */
/* join of each three numbers of 16 bits, which Half says how to read. */
template <class Half, class Join>
CUDASIM_DEVICE unsigned cudasim_halves(unsigned a, unsigned b, unsigned c, Join join) {
    unsigned low = (unsigned short)join((Half)a, (Half)b, (Half)c);
    unsigned high = (unsigned short)join((Half)(a >> 16), (Half)(b >> 16), (Half)(c >> 16));
    return high << 16 | low;
}
template <class Number> CUDASIM_DEVICE Number cudasim_least(Number a, Number b) {
    return a < b ? a : b;
}
template <class Number> CUDASIM_DEVICE Number cudasim_most(Number a, Number b) {
    return a > b ? a : b;
}
/* As it wraps around. */
template <class Number> CUDASIM_DEVICE Number cudasim_wrapped_sum(Number a, Number b) {
    return (Number)((unsigned)a + (unsigned)b);
}

#define CUDASIM_WORD(name, Number, expression)                                                     \
    CUDASIM_DEVICE Number name(Number x, Number y, Number z) {                                     \
        return expression;                                                                         \
    }
#define CUDASIM_WORD_HALVES(name, Half, expression)                                                \
    CUDASIM_DEVICE unsigned name(unsigned a, unsigned b, unsigned c) {                             \
        return cudasim_halves<Half>(                                                               \
            a, b, c, [](Half x, Half y, Half z) CUDASIM_UNCHECKED { return expression; });         \
    }
/* Of three numbers; relu: not below 0. */
#define CUDASIM_WORDS(name, expression)                                                            \
    CUDASIM_WORD(name##_s32, int, expression)                                                      \
    CUDASIM_WORD(name##_u32, unsigned, expression)                                                 \
    CUDASIM_WORD(name##_s32_relu, int, cudasim_most(expression, 0))                                \
    CUDASIM_WORD_HALVES(name##_s16x2, short, expression)                                           \
    CUDASIM_WORD_HALVES(name##_u16x2, unsigned short, expression)                                  \
    CUDASIM_WORD_HALVES(name##_s16x2_relu, short, cudasim_most(expression, (short)0))
CUDASIM_WORDS(__vimax3, cudasim_most(cudasim_most(x, y), z))
CUDASIM_WORDS(__vimin3, cudasim_least(cudasim_least(x, y), z))
CUDASIM_WORDS(__viaddmax, cudasim_most(cudasim_wrapped_sum(x, y), z))
CUDASIM_WORDS(__viaddmin, cudasim_least(cudasim_wrapped_sum(x, y), z))

/* Of two. */
CUDASIM_DEVICE int __vimax_s32_relu(int a, int b) {
    return __vimax3_s32_relu(a, b, b);
}
CUDASIM_DEVICE int __vimin_s32_relu(int a, int b) {
    return __vimin3_s32_relu(a, b, b);
}
CUDASIM_DEVICE unsigned __vimax_s16x2_relu(unsigned a, unsigned b) {
    return __vimax3_s16x2_relu(a, b, b);
}
CUDASIM_DEVICE unsigned __vimin_s16x2_relu(unsigned a, unsigned b) {
    return __vimin3_s16x2_relu(a, b, b);
}

/* Of two, and whether it is the first. */
#define CUDASIM_WORD_FIRST(name, three, op)                                                        \
    CUDASIM_DEVICE int name##_s32(int a, int b, bool *first) {                                     \
        *first = a op b;                                                                           \
        return three##_s32(a, b, b);                                                               \
    }                                                                                              \
    CUDASIM_DEVICE unsigned name##_u32(unsigned a, unsigned b, bool *first) {                      \
        *first = a op b;                                                                           \
        return three##_u32(a, b, b);                                                               \
    }                                                                                              \
    CUDASIM_DEVICE unsigned name##_s16x2(unsigned a, unsigned b, bool *high, bool *low) {          \
        *high = (short)(a >> 16) op(short)(b >> 16);                                               \
        *low = (short)a op(short) b;                                                               \
        return three##_s16x2(a, b, b);                                                             \
    }                                                                                              \
    CUDASIM_DEVICE unsigned name##_u16x2(unsigned a, unsigned b, bool *high, bool *low) {          \
        *high = (a >> 16) op(b >> 16);                                                             \
        *low = (a & 0xFFFF) op(b & 0xFFFF);                                                        \
        return three##_u16x2(a, b, b);                                                             \
    }
CUDASIM_WORD_FIRST(__vibmax, __vimax3, >=)
CUDASIM_WORD_FIRST(__vibmin, __vimin3, <=)
/** @endcond */

#endif
