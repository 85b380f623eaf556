/* A program that ends while a kernel and a product are still queued: CUDA does not wait for them,
   the simulator runs them for what they may report. It must end as if it had waited. */
#include <cublas_v2.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 64 };

static __global__ void add_one(float *x) {
    x[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}

int main() {
    float *x, one = 1, zero = 0;
    cublasHandle_t handle;
    int status = (int)cudaMalloc(&x, 2 * N * N * sizeof(float)) + (int)cublasCreate(&handle) +
                 (int)cudaMemset(x, 0, 2 * N * N * sizeof(float));
    for (int i = 0; i < 2; i++) {
        add_one<<<N, N>>>(x);
        status += (int)cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, x, N, x, N,
                                   &zero, x + N * N, N);
        status += i == 0 ? (int)cudaDeviceSynchronize() : (int)cudaGetLastError();
    }
    printf("%s\n", status == 0 ? "good" : "a call has failed");
    exit(status);
}
