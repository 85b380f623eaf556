/**
 * @file cast.h
 * @brief Between the storage type and float: masters to weights, weights to masters.
 * @ingroup ops
 */
#ifndef KERNELS_CAST_H
#define KERNELS_CAST_H

#include "kernels/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * out[i] = in[i] rounded to the storage type, to the nearest, ties to even; what is too large
 * becomes infinity.
 *
 * @param[out] out (n); no overlap
 * @param[in]  in  (n)
 * @param      n   elements
 */
typedef void cast_from_float_fn(Real *out, const float *in, size_t n);
OP(cast_from_float);

/**
 * out[i] = in[i]; exact.
 *
 * @param[out] out (n); no overlap
 * @param[in]  in  (n)
 * @param      n   elements
 */
typedef void cast_to_float_fn(float *out, const Real *in, size_t n);
OP(cast_to_float);

#ifdef __cplusplus
}
#endif

#endif
