/**
 * @file sumsq.h
 * @brief Sum of squares: what the global gradient norm is made of.
 * @ingroup ops
 */
#ifndef KERNELS_SUMSQ_H
#define KERNELS_SUMSQ_H

#include "kernels/tensors.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Adds the sum of squares of all numbers of a list to one number.
 *
 *     out[0] += sum_i x[i]^2
 *
 * The order of the sum is fixed. Each block of TENSOR_BLOCK indices leaves one partial sum in
 * double, the first thing in the workspace: double partial[length / TENSOR_BLOCK], in the order of
 * the blocks. Then these are added up in double, in an order that depends on nothing but how many
 * there are (on the CPU from the first to the last), and rounded to float once. So the bits depend
 * neither on threads nor on where a list is cut, as long as blocks stay whole.
 *
 * @param[in,out] out       (1), added to
 * @param[in]     x         the tensors; the list may be empty
 * @param[in]     workspace sumsq_scratch() bytes
 */
typedef void sumsq_fn(float *out, TensorList x, const Workspace *workspace);
FLOAT_OP(sumsq);

/** Bytes of workspace for a flat index of that length: a double for each block. */
static inline size_t sumsq_scratch(size_t length) {
    return length / TENSOR_BLOCK * sizeof(double);
}

#ifdef __cplusplus
}
#endif

#endif
