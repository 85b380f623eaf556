/* The host sets a shared variable before the launch. Shared memory belongs to a block while it
   runs: the host has none, and a block finds nothing in its own. */
/* says: let a thread of the block write it */
#include "try.cuh"

enum { N = 128 };

__shared__ float factor;

static __global__ void scale(float *out, const float *x) {
#ifdef MENDED
    if (threadIdx.x == 0) {
        factor = 2;
    }
    __syncthreads();
#endif
    out[threadIdx.x] = factor * x[threadIdx.x];
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = (float)i;
    }
#ifndef MENDED
    factor = 2; /* expect: host access to device memory */
#endif
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&out, N * sizeof *out));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    TRY(cudaMemset(out, 0, N * sizeof *out));
    scale<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaFree(out));
    return expect(checksum(host, N), 1398016);
}
