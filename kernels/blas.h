/**
 * @file blas.h
 * @brief The one product of float matrices, from whichever library the build chose.
 * @ingroup kernels
 *
 * `make BLAS=onednn` (the default on x86-64), `BLAS=openblas`, or `BLAS=none` for a plain loop.
 * The speed of each is in docs/performance.md.
 */
#ifndef KERNELS_BLAS_H
#define KERNELS_BLAS_H

#include <stdbool.h>

/**
 * C = op(A) op(B) + beta C, row-major, op the identity or the transpose. One thread computes; many
 * may call at once.
 *
 * @param transpose_a A is stored as (K, M) and taken transposed
 * @param transpose_b B is stored as (N, K) and taken transposed
 * @param M,N,K       C is (M, N), op(A) is (M, K), op(B) is (K, N); any may be 0
 * @param A           first factor
 * @param lda         floats from one stored row of A to the next
 * @param B           second factor
 * @param ldb         the same for B
 * @param beta        0 (C is written) or 1 (C is added to)
 * @param C           (M, N); no overlap with A or B
 * @param ldc         the same for C
 */
void blas_sgemm(bool transpose_a, bool transpose_b, int M, int N, int K, const float *A, int lda,
                const float *B, int ldb, float beta, float *C, int ldc);

/**
 * The distance, in floats, to give to rows of `cols` floats that a product will read: an odd number
 * of cache lines. Rows a multiple of 2 KiB apart, as those of most tensors are, put a column into
 * few sets of the first-level cache, where each number that is read drives out another one that is
 * soon needed: measured in docs/performance.md.
 */
static inline int blas_ld(int cols) {
    enum { LINE = 64 / (int)sizeof(float) };
    return ((cols + LINE - 1) / LINE | 1) * LINE;
}

/** Makes each call run on its calling thread alone. Call once, before the first product. */
void blas_init(void);

/** The library that computes the products. */
typedef struct BlasInfo {
    const char *name;     /**< "oneDNN 2.6.3", "OpenBLAS 0.3.21", "plain loops" */
    const char *core;     /**< the kernels in use: "avx512_core_vnni", "Haswell" */
    const char *variable; /**< the environment variable that can pin them, or NULL */
    bool older;           /**< whether it pins them to kernels older than this CPU could run */
} BlasInfo;

/** Tells name and core type. The strings are static: do not free. */
BlasInfo blas_info(void);

#endif
