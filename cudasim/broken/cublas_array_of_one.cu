/* All products of a batch by arrays of pointers have one result. */
#include "try.cuh"

#include <cublas_v2.h>

#ifdef MENDED
#define RESULT(z) (z)
#else
#define RESULT(z) (0)
#endif

int main(void) {
    enum { N = 4, BATCH = 2 };
    const float one = 1, zero = 0;
    float host[BATCH * N * N], *a, *c;
    void *pointers[2][BATCH], **factors;
    cublasHandle_t handle;
    for (int i = 0; i < BATCH * N * N; i++) {
        host[i] = i % 5;
    }
    TRY(cublasCreate(&handle));
    TRY(cudaMalloc(&a, sizeof host));
    TRY(cudaMalloc(&c, sizeof host));
    TRY(cudaMalloc(&factors, sizeof pointers));
    for (int z = 0; z < BATCH; z++) {
        pointers[0][z] = a + z * N * N;
        pointers[1][z] = c + RESULT(z) * N * N;
    }
    TRY(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(factors, pointers, sizeof pointers, cudaMemcpyHostToDevice));
    void **results = factors + BATCH;
    const cublasOperation_t no = CUBLAS_OP_N;
    /* expect: cuBLAS argument */
    TRY(cublasGemmBatchedEx(handle, no, no, N, N, N, &one, factors, CUDA_R_32F, N, factors,
                            CUDA_R_32F, N, &zero, results, CUDA_R_32F, N, BATCH, CUBLAS_COMPUTE_32F,
                            CUBLAS_GEMM_DEFAULT));
    /* more reports follow */
    TRY(cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(factors));
    TRY(cudaFree(c));
    TRY(cudaFree(a));
    TRY(cublasDestroy(handle));
    return expect(checksum(host, N * N), 1945);
}
