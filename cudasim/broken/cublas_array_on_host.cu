/* A batch by arrays of pointers: the arrays are on the host. cuBLAS reads them on the device. */
#include "try.cuh"

#include <cublas_v2.h>

int main(void) {
    enum { N = 4, BATCH = 2 };
    const float one = 1, zero = 0;
    float host[BATCH * N * N], *a, *c;
    cublasHandle_t handle;
    for (int i = 0; i < BATCH * N * N; i++) {
        host[i] = i % 5;
    }
    TRY(cublasCreate(&handle));
    TRY(cudaMalloc(&a, sizeof host));
    TRY(cudaMalloc(&c, sizeof host));
    TRY(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
    void *pointers[2][BATCH], **factors = pointers[0], **results = pointers[1];
    for (int z = 0; z < BATCH; z++) {
        factors[z] = a + z * N * N;
        results[z] = c + z * N * N;
    }
#ifdef MENDED
    TRY(cudaMalloc(&factors, sizeof pointers));
    TRY(cudaMemcpy(factors, pointers, sizeof pointers, cudaMemcpyHostToDevice));
    results = factors + BATCH;
#endif
    const cublasOperation_t no = CUBLAS_OP_N;
    /* expect: cuBLAS argument */
    cublasGemmBatchedEx(handle, no, no, N, N, N, &one, factors, CUDA_R_32F, N, factors, CUDA_R_32F,
                        N, &zero, results, CUDA_R_32F, N, BATCH, CUBLAS_COMPUTE_32F,
                        CUBLAS_GEMM_DEFAULT);
    /* more reports follow */
    TRY(cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost));
#ifdef MENDED
    TRY(cudaFree(factors));
#endif
    TRY(cudaFree(c));
    TRY(cudaFree(a));
    TRY(cublasDestroy(handle));
    return expect(checksum(host, N * N), 1945);
}
