/* A kernel is given memory of the host that is registered no longer. */
#include "try.cuh"

enum { N = 1024 };

static __global__ void fill(float *x) {
    x[threadIdx.x] = 3;
}

int main(void) {
    float *x = (float *)aligned_alloc(4096, N * sizeof *x);
    TRY(cudaHostRegister(x, N * sizeof *x, cudaHostRegisterMapped));
#ifndef MENDED
    TRY(cudaHostUnregister(x));
#endif
    fill<<<1, N>>>(x); /* expect: host pointer passed to a kernel */
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
#ifdef MENDED
    TRY(cudaHostUnregister(x));
#endif
    double sum = checksum(x, N);
    free(x);
    return expect(sum, 3.0 * N * (N + 1) / 2);
}
