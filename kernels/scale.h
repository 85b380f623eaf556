/**
 * @file scale.h
 * @brief Multiplies float tensors by a number: clipping by norm.
 * @ingroup ops
 */
#ifndef KERNELS_SCALE_H
#define KERNELS_SCALE_H

#include "kernels/tensors.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * x[i] *= factor, for each number of each tensor; one launch on the GPU.
 *
 * @param[in,out] x      the tensors; the list may be empty
 * @param         factor any float; a power of two is exact while nothing under- or overflows
 */
typedef void scale_fn(TensorList x, float factor);
FLOAT_OP(scale);

#ifdef __cplusplus
}
#endif

#endif
