/**
 * @file flash_head.cuh
 * @brief What both kinds of flash attention on the GPU share: a head's place in a tensor.
 * @ingroup kernels
 *
 * flash.cu computes in float, whatever the storage type; flash_tensor.cu on tensor cores, where the
 * storage type and the head's length allow it. The ops are flash.cu's.
 */
#ifndef KERNELS_FLASH_HEAD_CUH
#define KERNELS_FLASH_HEAD_CUH

#include "kernels/real.cuh"

/** Where a head lies in a tensor of rows of `stride` numbers. */
typedef struct HeadView {
    Real *x;    /**< row 0 */
    int stride; /**< numbers from a row to the next */
    int T;      /**< rows */
    int HS;     /**< numbers of a row */
} HeadView;

/**
 * The head of this block, whose grid is (heads, sequences, tiles): blocks of the first tile begin
 * first, those of all heads.
 *
 * @param x     a (B, T, parts * C) tensor
 * @param parts 3 for queries, keys and values, else 1
 * @param part  which of them, from 0
 * @param T     tokens per sequence
 * @param C     channels
 * @param NH    heads
 */
static __device__ inline HeadView head_of(const Real *x, int parts, int part, int T, int C,
                                          int NH) {
    int HS = C / NH, h = blockIdx.x, b = blockIdx.y;
    size_t first = ((size_t)b * T * parts + part) * C + (size_t)h * HS;
    HeadView head = {(Real *)x + first, parts * C, T, HS};
    return head;
}

#endif
