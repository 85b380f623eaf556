/**
 * @file axpby.h
 * @brief Two tensors of activations, each times a number, and their sum: the branch of an adapter
 *        beside what it stands by.
 * @ingroup ops
 *
 * Named as in the BLAS: "a x plus b y".
 */
#ifndef KERNELS_AXPBY_H
#define KERNELS_AXPBY_H

#include "kernels/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * y[i] = a * x[i] + b * y[i], in float, rounded once.
 *
 * With b = 0, y is not read and may hold anything; with a = 0, x is read, and a NaN of it stays.
 *
 * @param[in,out] y (n)
 * @param[in]     x (n); may be `y`
 * @param         n elements
 * @param         a factor of x
 * @param         b factor of y
 */
typedef void axpby_fn(Real *y, const Real *x, size_t n, float a, float b);
OP(axpby);

#ifdef __cplusplus
}
#endif

#endif
