/* A call with a wrong leading dimension fails, and nobody looks at its status. On a GPU the result
   stays what it was before, here zeros. */
#include <cublas_v2.h>

#include "try.cuh"

/* Column by column, as cuBLAS counts: out (m x n) = a (m x k) * b (k x n), all ones. */
enum { M = 8, N = 4, K = 16 };

int main(void) {
    float ones[M * K], result[M * N], *a, *b, *out;
    const float one = 1, zero = 0;
    for (int i = 0; i < M * K; i++) {
        ones[i] = 1;
    }
    TRY(cudaMalloc(&a, M * K * sizeof(float)));
    TRY(cudaMalloc(&b, K * N * sizeof(float)));
    TRY(cudaMalloc(&out, sizeof result));
    TRY(cudaMemcpy(a, ones, M * K * sizeof(float), cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(b, ones, K * N * sizeof(float), cudaMemcpyHostToDevice));
    TRY(cudaMemset(out, 0, sizeof result));
    cublasHandle_t blas;
    TRY(cublasCreate(&blas));
#ifdef MENDED
    int ldb = K;
#else
    int ldb = N;
#endif
    cublasOperation_t no = CUBLAS_OP_N;
#ifdef MENDED
    TRY(cublasSgemm(blas, no, no, M, N, K, &one, a, M, b, ldb, &zero, out, M));
#else
    /* expect: cuBLAS argument */
    cublasSgemm(blas, no, no, M, N, K, &one, a, M, b, ldb, &zero, out, M);
#endif
    TRY(cublasDestroy(blas));
    TRY(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    return expect(checksum(result, M * N), 16 * 528);
}
