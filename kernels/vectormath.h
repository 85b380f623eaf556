/**
 * @file vectormath.h
 * @brief expf and logf inside vector loops, without fast-math.
 * @ingroup kernels
 *
 * glibc has vector versions of both (within 4 units in the last place, inf and NaN as in the plain
 * ones), but its headers tell the compiler of them only under -ffast-math, which would also declare
 * that no number is ever inf or NaN. Here gcc learns of them and of nothing else. Elsewhere a loop
 * calls the plain ones.
 */
#ifndef KERNELS_VECTORMATH_H
#define KERNELS_VECTORMATH_H

#include <math.h>

#if defined __x86_64__ && defined __GLIBC__ && defined __GNUC__ && !defined __clang__
__attribute__((simd("notinbranch"))) float expf(float x);
__attribute__((simd("notinbranch"))) float logf(float x);
#endif

#endif
