/**
 * @file vector_types.h
 * @brief Vectors of one to four numbers, and dim3: what cudasim's cuda_runtime.h includes first.
 * @ingroup cudasim
 */
#ifndef CUDASIM_VECTOR_TYPES_H
#define CUDASIM_VECTOR_TYPES_H

#include "cudasim_sides.h"

/** @cond */
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define CUDASIM_VECTORS(Type, name)                                                                \
    typedef struct name##1 {                                                                       \
        Type x;                                                                                    \
    }                                                                                              \
    name##1;                                                                                       \
    typedef struct __align__(2 * sizeof(Type)) name##2 {                                           \
        Type x, y;                                                                                 \
    }                                                                                              \
    name##2;                                                                                       \
    typedef struct name##3 {                                                                       \
        Type x, y, z;                                                                              \
    }                                                                                              \
    name##3;                                                                                       \
    typedef struct __align__(sizeof(Type) < 8 ? 4 * sizeof(Type) : 16) name##4 {                   \
        Type x, y, z, w;                                                                           \
    }                                                                                              \
    name##4;                                                                                       \
    __attribute__((unused)) static inline name##1 make_##name##1(Type x) {                         \
        name##1 v = {x};                                                                           \
        return v;                                                                                  \
    }                                                                                              \
    __attribute__((unused)) static inline name##2 make_##name##2(Type x, Type y) {                 \
        name##2 v = {x, y};                                                                        \
        return v;                                                                                  \
    }                                                                                              \
    __attribute__((unused)) static inline name##3 make_##name##3(Type x, Type y, Type z) {         \
        name##3 v = {x, y, z};                                                                     \
        return v;                                                                                  \
    }                                                                                              \
    __attribute__((unused)) static inline name##4 make_##name##4(Type x, Type y, Type z, Type w) { \
        name##4 v = {x, y, z, w};                                                                  \
        return v;                                                                                  \
    }
CUDASIM_SIDES_BEGIN
CUDASIM_VECTORS(signed char, char)
CUDASIM_VECTORS(unsigned char, uchar)
CUDASIM_VECTORS(short, short)
CUDASIM_VECTORS(unsigned short, ushort)
CUDASIM_VECTORS(int, int)
CUDASIM_VECTORS(unsigned, uint)
CUDASIM_VECTORS(long, long)
CUDASIM_VECTORS(unsigned long, ulong)
CUDASIM_VECTORS(long long, longlong)
CUDASIM_VECTORS(unsigned long long, ulonglong)
CUDASIM_VECTORS(float, float)
CUDASIM_VECTORS(double, double)
/** @endcond */

/** A size in three dimensions; those left out are 1. */
typedef struct dim3 {
    unsigned x; /**< fastest dimension */
    unsigned y; /**< second */
    unsigned z; /**< slowest */
#ifdef __cplusplus
    /** @cond */
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {
    }
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {
    }
    /** @endcond */
#endif
} dim3;
CUDASIM_SIDES_END

#endif
