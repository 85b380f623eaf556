/* One factor is declared as fp16, the other as float. There is no such product. */
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
#ifdef MENDED
    cudaDataType_t type = CUDA_R_32F;
#else
    cudaDataType_t type = CUDA_R_16F;
#endif
    /* expect: cuBLAS argument */
    cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N * BATCH, N, &one, a, type, N, a, CUDA_R_32F,
                 N, &zero, c, CUDA_R_32F, N, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    /* more reports follow */
    TRY(cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(c));
    TRY(cudaFree(a));
    TRY(cublasDestroy(handle));
    return expect(checksum(host, N * N), 1945);
}
