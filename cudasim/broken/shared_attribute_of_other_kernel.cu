/* The larger shared memory is allowed for one kernel, and asked for by another. */
#include "try.cuh"

enum { N = 64, FLOATS = 16384 };

static __global__ void add(float *out, const float *x) {
    extern __shared__ float s[];
    s[FLOATS - 1 - threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[FLOATS - N + threadIdx.x];
}

static __global__ void other(float *out, const float *x) {
    extern __shared__ float s[];
    s[threadIdx.x] = x[threadIdx.x];
    out[threadIdx.x] = s[threadIdx.x];
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMalloc(&out, N * sizeof *out));
    TRY(cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice));
    other<<<1, N, N * sizeof(float)>>>(out, x);
#ifdef MENDED
    const void *kernel = (const void *)add;
#else
    const void *kernel = (const void *)other;
#endif
    TRY(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             FLOATS * sizeof(float)));
    add<<<1, N, FLOATS * sizeof(float)>>>(out, x); /* expect: launch failed */
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 43680);
}
