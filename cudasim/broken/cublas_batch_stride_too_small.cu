/* The products of a batch lie on each other: the stride of the result is a row, not a matrix. */
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
    long long t = N * N;
#else
    long long t = 1;
#endif
    const long long s = N * N;
    const cublasOperation_t no = CUBLAS_OP_N;
    /* expect: cuBLAS argument */
    cublasSgemmStridedBatched(handle, no, no, N, N, N, &one, a, N, s, a, N, s, &zero, c, N, t, 2);
    /* more reports follow */
    TRY(cudaMemcpy(host, c, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(c));
    TRY(cudaFree(a));
    TRY(cublasDestroy(handle));
    return expect(checksum(host, N * N), 1945);
}
