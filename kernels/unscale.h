/**
 * @file unscale.h
 * @brief Takes a loss scale back from a gradient, and looks for inf and NaN on the way.
 * @ingroup ops
 */
#ifndef KERNELS_UNSCALE_H
#define KERNELS_UNSCALE_H

#include "kernels/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * grad[i] *= inv_scale; and where one of grad[i] is inf or NaN, found_inf[0] = 1. One pass over
 * memory: each number is read once, looked at, and written once.
 *
 * found_inf is never set to 0 here: over many tensors it is one chain of calls, after which it says
 * whether any of them had such a number. Numbers that are not finite stay that.
 *
 * @param[in,out] grad      (n)
 * @param         n         elements; 0 is fine
 * @param         inv_scale 1 / scale; with a power of two nothing is rounded, but for products
 *                          below the smallest normal number, which are kept with fewer bits
 * @param[in,out] found_inf (1) 0 or 1
 */
typedef void unscale_fn(float *grad, size_t n, float inv_scale, float *found_inf);
FLOAT_OP(unscale);

#ifdef __cplusplus
}
#endif

#endif
