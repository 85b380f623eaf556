/**
 * @file gemm.h
 * @brief Products of row-major matrices on the GPU, through cuBLAS.
 * @ingroup kernels
 *
 * cuBLAS thinks in columns. A row-major matrix read by columns is its own transpose, and
 * (A B)^T = B^T A^T: so the factors are handed over in exchanged order, and nothing is transposed.
 */
#ifndef KERNELS_GEMM_H
#define KERNELS_GEMM_H

#include <stdbool.h>

#include "kernels/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A batch of matrices in device memory, each of rows that are `ld` elements apart.
 *
 * A head of attention is such a matrix inside of a larger one: its rows are 3C elements apart, and
 * the next head begins HS elements further.
 */
typedef struct Matrix {
    void *data;          /**< element (0, 0) of the first matrix; a factor is only read */
    Precision precision; /**< storage type */
    int ld;              /**< elements from one stored row to the next */
    size_t stride;   /**< elements from one matrix of the batch to the next; unused if it is 1 */
    bool each;       /**< data is an array in device memory: (batch) element (0, 0) of each */
    bool transposed; /**< as a factor: what is stored is its transpose */
} Matrix;

/** A batch of matrices as they are stored, at equal distances. */
static inline Matrix matrix(const void *data, Precision precision, int ld, size_t stride) {
    Matrix result = {(void *)data, precision, ld, stride, false, false};
    return result;
}

/** A batch of matrices anywhere: `data` has the address of each, in device memory. */
static inline Matrix matrix_each(void *const *data, Precision precision, int ld) {
    Matrix result = {(void *)data, precision, ld, 0, true, false};
    return result;
}

/** The transposes of stored matrices, as a factor; moves nothing. */
static inline Matrix transpose(Matrix stored) {
    stored.transposed = !stored.transposed;
    return stored;
}

/** The precision of `Real`, in a source that is compiled once for each. */
#if defined REAL_F16
#define REAL_PRECISION F16
#elif defined REAL_BF16
#define REAL_PRECISION BF16
#else
#define REAL_PRECISION F32
#endif

/**
 * C = alpha A B + beta C, for each of `batch` matrices; the order of the sums depends on the sizes
 * alone. Products are summed in float and rounded once, when C is stored; twice where A and B are
 * of a half type, their rows begin at multiples of 16 bytes, lie along K, and do not end at one.
 *
 * Queued on the stream of the handle; returns before it is computed.
 *
 * @param[in,out] C         (M, N), not transposed, no overlap; with beta = 0 it is not read
 * @param         alpha     factor of the product
 * @param         A         (M, K), after transposition
 * @param         B         (K, N), after transposition; stored like A
 * @param         beta      factor of what C holds
 * @param         M,N,K     sizes; where M or N is 0 nothing is done
 * @param         batch     how many products
 * @param[in]     workspace the cuBLAS handle, in host pointer mode
 *
 * C is stored like A and B, or in float. All three lie at equal distances, or none does.
 */
void gemm(Matrix C, float alpha, Matrix A, Matrix B, float beta, int M, int N, int K, int batch,
          const Workspace *workspace);

/**
 * C = A B + the bias in each row, in one launch: cuBLASLt adds it before a sum is rounded. Its sums
 * are not split, so their order depends on the sizes alone.
 *
 * @param[out] C         (M, N), one matrix, not transposed, no overlap
 * @param      A         (M, K), after transposition, stored like C
 * @param      B         (K, N), after transposition, stored like C
 * @param[in]  bias      (N), stored like C
 * @param      M,N,K     sizes
 * @param[in]  workspace the cuBLAS handle
 * @return false, and nothing is done, unless all rows, and the bias, begin at multiples of 16
 *         bytes: for others the library may lack a kernel
 */
bool gemm_bias(Matrix C, Matrix A, Matrix B, const void *bias, int M, int N, int K,
               const Workspace *workspace);

#ifdef __cplusplus
}
#endif

#endif
