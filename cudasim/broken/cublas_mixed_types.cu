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
    enum { M = N * BATCH };
    const cudaDataType_t f32 = CUDA_R_32F;
    const cublasOperation_t no = CUBLAS_OP_N;
    const cublasComputeType_t sums = CUBLAS_COMPUTE_32F;
    const cublasGemmAlgo_t any = CUBLAS_GEMM_DEFAULT;
    /* expect: cuBLAS argument */
    cublasGemmEx(handle, no, no, N, M, N, &one, a, type, N, a, f32, N, &zero, c, f32, N, sums, any);
    /* more reports follow */
    TRY(cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(c));
    TRY(cudaFree(a));
    TRY(cublasDestroy(handle));
    return expect(checksum(host, N * N), 1945);
}
