/**
 * @file cudasim_special.h
 * @brief CUDA's functions of real numbers that the C library lacks. Included by cudasim_kernel.h.
 * @ingroup cudasim
 *
 * All are computed in double. A GPU's differ in the last bits.
 */
#ifndef CUDASIM_SPECIAL_H
#define CUDASIM_SPECIAL_H

#include <cmath>

/** @cond */
#define CUDASIM_PI 3.14159265358979323846

/* The angle in half turns, without what full turns add: exact. */
CUDASIM_DEVICE double cudasim_turn(double x) {
    return CUDASIM_PI * (x - 2 * nearbyint(x / 2));
}

/* Where a falling function is y: halves [low, high], which encloses it. */
template <class Function>
CUDASIM_DEVICE double cudasim_inverse(Function f, double y, double low, double high) {
    for (int i = 0; i < 64; i++) {
        double middle = (low + high) / 2;
        (f(middle) > y ? low : high) = middle;
    }
    return (low + high) / 2;
}

CUDASIM_DEVICE double erfcinv(double y) {
    if (!(y > 0 && y < 2)) {
        return y == 0 ? HUGE_VAL : y == 2 ? -HUGE_VAL : (double)NAN;
    }
    double x = cudasim_inverse([](double t) CUDASIM_UNCHECKED { return erfc(t); }, y, -6, 28);
    return x + (erfc(x) - y) * sqrt(CUDASIM_PI) / 2 * exp(x * x); /* Newton's step */
}
CUDASIM_DEVICE double erfinv(double y) {
    if (!(fabs(y) < 0.5)) {
        return y < 0 ? -erfcinv(1 + y) : erfcinv(1 - y);
    }
    double x = cudasim_inverse([](double t) CUDASIM_UNCHECKED { return -erf(t); }, -y, -1, 1);
    return x - (erf(x) - y) * sqrt(CUDASIM_PI) / 2 * exp(x * x);
}
CUDASIM_DEVICE double erfcx(double x) {
    double s = 0.5 / (x * x); /* far out by its asymptotic series */
    return x < 25 ? exp(x * x) * erfc(x)
                  : (1 - s * (1 - 3 * s * (1 - 5 * s * (1 - 7 * s)))) / (x * sqrt(CUDASIM_PI));
}
CUDASIM_DEVICE double normcdf(double x) {
    return 0.5 * erfc(-x * sqrt(0.5));
}
CUDASIM_DEVICE double normcdfinv(double y) {
    return -sqrt(2.0) * erfcinv(2 * y);
}
CUDASIM_DEVICE double rcbrt(double x) {
    return 1 / cbrt(x);
}
CUDASIM_DEVICE double sinpi(double x) {
    return sin(cudasim_turn(x));
}
CUDASIM_DEVICE double cospi(double x) {
    return cos(cudasim_turn(x));
}
CUDASIM_DEVICE double rhypot(double x, double y) {
    return 1 / hypot(x, y);
}
CUDASIM_DEVICE double norm3d(double x, double y, double z) {
    return hypot(hypot(x, y), z);
}
CUDASIM_DEVICE double rnorm3d(double x, double y, double z) {
    return 1 / norm3d(x, y, z);
}
CUDASIM_DEVICE double norm4d(double x, double y, double z, double w) {
    return hypot(hypot(x, y), hypot(z, w));
}
CUDASIM_DEVICE double rnorm4d(double x, double y, double z, double w) {
    return 1 / norm4d(x, y, z, w);
}
/* The length of a vector of any dimension; no square of a part overflows. */
template <class Number>
CUDASIM_DEVICE double cudasim_norm(int count, const Number *x, const char *file, int line) {
    double length = 0;
    for (int i = 0; i < count; i++) {
        length = hypot(length, (double)cudasim_ptx_load<Number>((const char *)(x + i), file, line));
    }
    return length;
}
CUDASIM_DEVICE double norm(int count, const double *x, CUDASIM_CALLER) {
    return cudasim_norm(count, x, file, line);
}
CUDASIM_DEVICE double rnorm(int count, const double *x, CUDASIM_CALLER) {
    return 1 / cudasim_norm(count, x, file, line);
}
CUDASIM_DEVICE float normf(int count, const float *x, CUDASIM_CALLER) {
    return (float)cudasim_norm(count, x, file, line);
}
CUDASIM_DEVICE float rnormf(int count, const float *x, CUDASIM_CALLER) {
    return (float)(1 / cudasim_norm(count, x, file, line));
}
/* Modified Bessel functions; those of order 0 are even, of order 1 odd. */
CUDASIM_DEVICE double cyl_bessel_i0(double x) {
    return std::cyl_bessel_i(0.0, fabs(x));
}
CUDASIM_DEVICE double cyl_bessel_i1(double x) {
    return copysign(std::cyl_bessel_i(1.0, fabs(x)), x);
}
CUDASIM_DEVICE void sincospi(double x, double *s, double *c) {
    *s = sinpi(x);
    *c = cospi(x);
}

#define CUDASIM_FLOAT_OF(name)                                                                     \
    CUDASIM_DEVICE float name##f(float x) {                                                        \
        return (float)name((double)x);                                                             \
    }                                                                                              \
    CUDASIM_DEVICE float name(float x) {                                                           \
        return name##f(x);                                                                         \
    }
CUDASIM_FLOAT_OF(erfinv)
CUDASIM_FLOAT_OF(erfcinv)
CUDASIM_FLOAT_OF(erfcx)
CUDASIM_FLOAT_OF(normcdf)
CUDASIM_FLOAT_OF(normcdfinv)
CUDASIM_FLOAT_OF(rcbrt)
CUDASIM_FLOAT_OF(sinpi)
CUDASIM_FLOAT_OF(cospi)
CUDASIM_FLOAT_OF(cyl_bessel_i0)
CUDASIM_FLOAT_OF(cyl_bessel_i1)
CUDASIM_DEVICE float rhypotf(float x, float y) {
    return (float)rhypot((double)x, (double)y);
}
CUDASIM_DEVICE float norm3df(float x, float y, float z) {
    return (float)norm3d((double)x, (double)y, (double)z);
}
CUDASIM_DEVICE float rnorm3df(float x, float y, float z) {
    return (float)rnorm3d((double)x, (double)y, (double)z);
}
CUDASIM_DEVICE float norm4df(float x, float y, float z, float w) {
    return (float)norm4d((double)x, (double)y, (double)z, (double)w);
}
CUDASIM_DEVICE float rnorm4df(float x, float y, float z, float w) {
    return (float)rnorm4d((double)x, (double)y, (double)z, (double)w);
}
CUDASIM_DEVICE void sincospif(float x, float *s, float *c) {
    *s = sinpif(x);
    *c = cospif(x);
}
/** @endcond */

#endif
