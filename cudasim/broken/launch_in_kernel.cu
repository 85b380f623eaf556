/* A function of host and device launches a kernel, and a kernel calls it. On a GPU that is dynamic
   parallelism, which needs its own compilation; here only the host can launch. */
#include "try.cuh"

enum { N = 32 };

static __global__ void add(float *x) {
    x[threadIdx.x] += 1;
}

static __host__ __device__ void add_later(float *x) {
    add<<<1, N>>>(x); /* expect: unsupported */
}

static __global__ void fill(float *x) {
    x[threadIdx.x] = 0;
#ifndef MENDED
    add_later(x);
#endif
}

int main(void) {
    float host[N] = {0}, *x;
    TRY(cudaMalloc(&x, sizeof host));
    fill<<<1, N>>>(x);
    add_later(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 528);
}
