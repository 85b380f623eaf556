/* Matrices of float are to be summed in fp16: cuBLAS has no such product, and does nothing. */
#include "try.cuh"

#include <cublas_v2.h>

int main(void) {
    enum { N = 4 };
    const float one = 1, zero = 0;
    float host[N * N], *a, *c;
    cublasHandle_t handle;
    for (int i = 0; i < N * N; i++) {
        host[i] = i % 5;
    }
    TRY(cublasCreate(&handle));
    TRY(cudaMalloc(&a, sizeof host));
    TRY(cudaMalloc(&c, sizeof host));
    TRY(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
#ifdef MENDED
    const cublasComputeType_t sums = CUBLAS_COMPUTE_32F;
#else
    const cublasComputeType_t sums = CUBLAS_COMPUTE_16F;
#endif
    const cublasOperation_t no = CUBLAS_OP_N;
    /* expect: cuBLAS argument */
    cublasGemmEx(handle, no, no, N, N, N, &one, a, CUDA_R_32F, N, a, CUDA_R_32F, N, &zero, c,
                 CUDA_R_32F, N, sums, CUBLAS_GEMM_DEFAULT);
    /* more reports follow */
    TRY(cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(c));
    TRY(cudaFree(a));
    TRY(cublasDestroy(handle));
    return expect(checksum(host, N * N), 1945);
}
