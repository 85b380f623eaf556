/**
 * @file cuComplex.h
 * @brief Complex numbers of two floats or two doubles, and their arithmetic.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CUCOMPLEX_H
#define CUDASIM_CUCOMPLEX_H

#include <math.h>

#include "cuda_runtime.h"

/** Real part x, imaginary part y. */
typedef float2 cuFloatComplex;
/** Real part x, imaginary part y. */
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex; /**< its short name */

/** @cond */
CUDASIM_SIDES_BEGIN
/* Check mode sees no number that is passed by value straight from memory: these are never calls. */
#ifdef __cplusplus
#define CUDASIM_COMPLEX __attribute__((always_inline)) CUDASIM_DEVICE
#else
#define CUDASIM_COMPLEX __attribute__((unused)) static inline
#endif
/* C is the complex type, T that of its parts, f what its names end with; `abs` is hypot(). */
#define CUDASIM_COMPLEX_NUMBERS(Complex, Part, f, abs, fused)                                      \
    CUDASIM_COMPLEX Part cuCreal##f(Complex x) {                                                   \
        return x.x;                                                                                \
    }                                                                                              \
    CUDASIM_COMPLEX Part cuCimag##f(Complex x) {                                                   \
        return x.y;                                                                                \
    }                                                                                              \
    CUDASIM_COMPLEX Complex cuConj##f(Complex x) {                                                 \
        Complex result = {x.x, -x.y};                                                              \
        return result;                                                                             \
    }                                                                                              \
    CUDASIM_COMPLEX Complex cuCadd##f(Complex x, Complex y) {                                      \
        Complex result = {x.x + y.x, x.y + y.y};                                                   \
        return result;                                                                             \
    }                                                                                              \
    CUDASIM_COMPLEX Complex cuCsub##f(Complex x, Complex y) {                                      \
        Complex result = {x.x - y.x, x.y - y.y};                                                   \
        return result;                                                                             \
    }                                                                                              \
    CUDASIM_COMPLEX Complex cuCmul##f(Complex x, Complex y) {                                      \
        Complex result = {x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x};                           \
        return result;                                                                             \
    }                                                                                              \
    /* Scaled by |y|, so that no square overflows. */                                              \
    CUDASIM_COMPLEX Complex cuCdiv##f(Complex x, Complex y) {                                      \
        Part scale = 1 / abs(y.x, y.y), a = x.x * scale, b = x.y * scale;                          \
        Part c = y.x * scale, d = y.y * scale;                                                     \
        Complex result = {a * c + b * d, b * c - a * d};                                           \
        return result;                                                                             \
    }                                                                                              \
    CUDASIM_COMPLEX Part cuCabs##f(Complex x) {                                                    \
        return abs(x.x, x.y);                                                                      \
    }                                                                                              \
    CUDASIM_COMPLEX Complex fused(Complex x, Complex y, Complex z) {                               \
        return cuCadd##f(cuCmul##f(x, y), z);                                                      \
    }
CUDASIM_COMPLEX_NUMBERS(cuFloatComplex, float, f, hypotf, cuCfmaf)
CUDASIM_COMPLEX_NUMBERS(cuDoubleComplex, double, , hypot, cuCfma)
CUDASIM_COMPLEX cuFloatComplex make_cuFloatComplex(float real, float imaginary) {
    return make_float2(real, imaginary);
}
CUDASIM_COMPLEX cuDoubleComplex make_cuDoubleComplex(double real, double imaginary) {
    return make_double2(real, imaginary);
}
CUDASIM_COMPLEX cuComplex make_cuComplex(float real, float imaginary) {
    return make_float2(real, imaginary);
}
CUDASIM_COMPLEX cuDoubleComplex cuComplexFloatToDouble(cuFloatComplex x) {
    return make_double2((double)x.x, (double)x.y);
}
CUDASIM_COMPLEX cuFloatComplex cuComplexDoubleToFloat(cuDoubleComplex x) {
    return make_float2((float)x.x, (float)x.y);
}
CUDASIM_SIDES_END
/** @endcond */

#endif
