/* A function of host and device takes memory, and a kernel calls it. On a GPU that is dynamic
   parallelism, which needs its own compilation; here only the host can call the runtime. */
#include "try.cuh"

enum { N = 32 };

static __host__ __device__ float *room(void) {
    float *x = NULL;
    cudaMalloc(&x, N * sizeof *x); /* expect: unsupported */
    return x;
}

static __global__ void fill(float *x) {
#ifndef MENDED
    x = room();
#endif
    x[threadIdx.x] = 1;
}

int main(void) {
    float host[N] = {0}, *x = room();
    fill<<<1, N>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 528);
}
