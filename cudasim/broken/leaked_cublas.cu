/* Each product makes a handle of its own. A handle holds workspace on the device, some megabytes,
   until it is destroyed. */
#include <cublas_v2.h>

#include "try.cuh"
/* says: what it made was never destroyed, of 3 calls */

/* Column by column, as cuBLAS counts: out (m x n) += a (m x k) * b (k x n), all ones. */
enum { M = 8, N = 4, K = 16, PRODUCTS = 3 };

static void multiply(float *out, const float *a, const float *b) {
    const float one = 1;
    cublasHandle_t blas;
    TRY(cublasCreate(&blas)); /* expect: leak */
    cublasOperation_t no = CUBLAS_OP_N;
    TRY(cublasSgemm(blas, no, no, M, N, K, &one, a, M, b, K, &one, out, M));
#ifdef MENDED
    TRY(cublasDestroy(blas));
#endif
}

int main(void) {
    float ones[M * K], result[M * N], *a, *b, *out;
    for (int i = 0; i < M * K; i++) {
        ones[i] = 1;
    }
    TRY(cudaMalloc(&a, M * K * sizeof(float)));
    TRY(cudaMalloc(&b, K * N * sizeof(float)));
    TRY(cudaMalloc(&out, sizeof result));
    TRY(cudaMemcpy(a, ones, M * K * sizeof(float), cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(b, ones, K * N * sizeof(float), cudaMemcpyHostToDevice));
    TRY(cudaMemset(out, 0, sizeof result));
    for (int i = 0; i < PRODUCTS; i++) {
        multiply(out, a, b);
    }
    TRY(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
    TRY(cudaFree(a));
    TRY(cudaFree(b));
    TRY(cudaFree(out));
    return expect(checksum(result, M * N), 3 * 16 * 528);
}
