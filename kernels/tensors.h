/**
 * @file tensors.h
 * @brief A list of float tensors with one flat index over all their numbers: one launch for a
 * model.
 * @ingroup kernels
 *
 * A GPT-2 has 12 L + 4 parameters, most of them short. What the optimizer does to each number is
 * the same for all, so its ops take the whole list at once, and a thread asks for its place in it:
 *
 *     TensorPlace at = tensor_find(list, index);
 *     float *x = tensor_at(list, at); // x[0] to x[at.left - 1] are numbers of one tensor
 *
 * In the flat index each tensor begins at a multiple of TENSOR_BLOCK, so a block of TENSOR_BLOCK
 * indices holds numbers of one tensor alone, and a pack of 16 bytes never reaches into the next.
 * The indices after the last number of a tensor, up to the next multiple, are nobody's.
 */
#ifndef KERNELS_TENSORS_H
#define KERNELS_TENSORS_H

#include <stdbool.h>

#include "kernels/base.h"

/** @cond */
#if defined __CUDACC__
#define TENSOR_FUNCTION static __host__ __device__ inline
#else
#define TENSOR_FUNCTION static inline
#endif
/** @endcond */

/** Indices of a block: each tensor begins with one, and sums are formed block by block. */
enum { TENSOR_BLOCK = 256 };

/** One tensor of a list. */
typedef struct TensorEntry {
    float *data;  /**< (n) on the op's device, at a multiple of 16 bytes; may be NULL if n is 0 */
    size_t n;     /**< numbers; may be 0 */
    size_t first; /**< flat index of the first one, a multiple of TENSOR_BLOCK: tensors_index() */
    bool decays;  /**< whether adamw() lets weight decay pull on it */
} TensorEntry;

/** A list of tensors, passed by value: to an op, and by an op to its kernel. */
typedef struct TensorList {
    const TensorEntry *tensor; /**< (count) in the memory of the op's device; borrowed */
    int count;                 /**< tensors; 0 is fine */
    size_t n;                  /**< numbers of all tensors together */
    size_t length;             /**< of the flat index, a multiple of TENSOR_BLOCK */
} TensorList;

/** Where an index lies. */
typedef struct TensorPlace {
    int tensor;    /**< which of the list */
    size_t offset; /**< which of its numbers */
    size_t left;   /**< numbers from there to the tensor's end; 0 where the index is nobody's */
} TensorPlace;

/** Indices that a tensor of n numbers takes: n rounded up to a multiple of TENSOR_BLOCK. */
static inline size_t tensor_indices(size_t n) {
    return (n + TENSOR_BLOCK - 1) / TENSOR_BLOCK * TENSOR_BLOCK;
}

/**
 * Lays out the flat index: sets `first` of each tensor, one after the other.
 *
 * @param[in,out] tensor (count) host memory; n is set
 * @param         count  tensors
 * @return the length of the flat index
 */
static inline size_t tensors_index(TensorEntry *tensor, int count) {
    size_t length = 0;
    for (int i = 0; i < count; i++) {
        tensor[i].first = length;
        length += tensor_indices(tensor[i].n);
    }
    return length;
}

/**
 * The place of a flat index, by bisection. The list must not be empty.
 *
 * @param list  tensors, in memory that the caller can read
 * @param index any; from list.length on it is nobody's
 */
TENSOR_FUNCTION TensorPlace tensor_find(TensorList list, size_t index) {
    int low = 0, high = list.count; /* low begins at the index or before it, high after it */
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (list.tensor[middle].first <= index) {
            low = middle;
        } else {
            high = middle;
        }
    }
    size_t n = list.tensor[low].n, offset = index - list.tensor[low].first;
    TensorPlace at = {low, offset, offset < n ? n - offset : 0};
    return at;
}

/** The number at a place, in this list or in another one of the same shapes. */
TENSOR_FUNCTION float *tensor_at(TensorList list, TensorPlace at) {
    return list.tensor[at.tensor].data + at.offset;
}

/** Numbers from a place to the end of its block: TENSOR_BLOCK, or fewer at a tensor's end. */
static inline size_t tensor_run(TensorPlace at) {
    size_t most = TENSOR_BLOCK;
    return at.left < most ? at.left : most;
}

#endif
