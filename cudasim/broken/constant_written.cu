/* A kernel writes into constant memory, by a cast that hides it from the compiler. On a GPU the
   store is lost or stops the kernel: constants are read through a cache of their own. */
#include "try.cuh"

static __constant__ float scale[2];

static __global__ void weigh(float *out, const float *x) {
    int i = threadIdx.x;
#ifndef MENDED
    if (i == 0) {
        *(float *)&scale[1] = 3; /* expect: constant written */
    }
    __syncthreads();
#endif
    out[i] = x[i] * scale[1];
}

int main(void) {
    enum { N = 32 };
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    const float scales[2] = {2, 3};
    TRY(cudaMemcpyToSymbol(scale, scales, sizeof scales));
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&out, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    weigh<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 32736);
}
