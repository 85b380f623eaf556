/* A stream waits for an event that was destroyed. On a GPU the call fails or the driver crashes,
   and nothing is ordered. */
#include "try.cuh"

static __global__ void fill(float *x) {
    x[threadIdx.x] = 1;
}

static __global__ void twice(float *x) {
    x[threadIdx.x] *= 2;
}

int main(void) {
    enum { N = 32 };
    float host[N], *x;
    cudaStream_t first, second;
    cudaEvent_t filled;
    TRY(cudaStreamCreate(&first));
    TRY(cudaStreamCreate(&second));
    TRY(cudaEventCreate(&filled));
    TRY(cudaMalloc(&x, sizeof host));
    fill<<<1, N, 0, first>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaEventRecord(filled, first));
#ifndef MENDED
    TRY(cudaEventDestroy(filled));
#endif
    TRY(cudaStreamWaitEvent(second, filled, 0)); /* expect: use after free */
    twice<<<1, N, 0, second>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
#ifdef MENDED
    TRY(cudaEventDestroy(filled));
#endif
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaStreamDestroy(second));
    TRY(cudaStreamDestroy(first));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 1056);
}
