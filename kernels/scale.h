/**
 * @file scale.h
 * @brief Multiplies a float tensor by a number: clipping by norm.
 * @ingroup ops
 */
#ifndef KERNELS_SCALE_H
#define KERNELS_SCALE_H

#include "kernels/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * x[i] *= factor
 *
 * @param[in,out] x      (n)
 * @param         n      elements
 * @param         factor any float; a power of two is exact while nothing under- or overflows
 */
typedef void scale_fn(float *x, size_t n, float factor);
FLOAT_OP(scale);

#ifdef __cplusplus
}
#endif

#endif
