/* A matrix is replaced by its product with another in one call, C = A. cuBLAS may store parts of C
   before it has read all of A: on a GPU the result is undefined. */
#include "try.cuh"

#include <cublas_v2.h>

int main(void) {
    enum { N = 4 };
    const float one = 1, zero = 0;
    float host[N * N], *a, *b, *c;
    cublasHandle_t handle;
    for (int i = 0; i < N * N; i++) {
        host[i] = i % 3;
    }
    TRY(cublasCreate(&handle));
    TRY(cudaMalloc(&a, sizeof host));
    TRY(cudaMalloc(&b, sizeof host));
    TRY(cudaMalloc(&c, sizeof host));
    TRY(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
    TRY(cudaMemcpy(b, host, sizeof host, cudaMemcpyHostToDevice));
#ifdef MENDED
    float *result = c;
#else
    float *result = a;
#endif
    /* expect: cuBLAS argument */
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, a, N, b, N, &zero, result, N);
    TRY(cudaMemcpy(host, result, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(c));
    TRY(cudaFree(b));
    TRY(cudaFree(a));
    TRY(cublasDestroy(handle));
    return expect(checksum(host, N * N), 509);
}
