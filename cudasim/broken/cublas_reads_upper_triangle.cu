/* A causal softmax writes the lower triangle of the probabilities only, and the product with the
   values reads all of them. It works where fresh memory happens to be 0. */
#include "try.cuh"

#include <cublas_v2.h>

enum { T = 8, N = T * T };

static __global__ void softmax(float *p) {
    int row = threadIdx.x;
    for (int column = 0; column <= row; column++) {
        p[row * T + column] = 1.0f / (row + 1);
    }
#ifdef MENDED
    for (int column = row + 1; column < T; column++) {
        p[row * T + column] = 0;
    }
#endif
}

static __global__ void fill(float *v) {
    v[threadIdx.x] = threadIdx.x;
}

int main(void) {
    const float one = 1, zero = 0;
    float host[T], *p, *v, *out;
    cublasHandle_t handle;
    TRY(cublasCreate(&handle));
    TRY(cudaMalloc(&p, N * sizeof *p));
    TRY(cudaMalloc(&v, T * sizeof *v));
    TRY(cudaMalloc(&out, T * sizeof *out));
    softmax<<<1, T>>>(p);
    fill<<<1, T>>>(v);
    TRY(cudaGetLastError());
    /* expect: uninitialized device memory */
    TRY(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, T, T, &one, v, 1, p, T, &zero, out, 1));
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(v));
    TRY(cudaFree(p));
    TRY(cublasDestroy(handle));
    return expect(host[T - 1], 3.5);
}
