/* The program asks for more shared memory than the device has, does not look at the answer, and
   launches. */
#include "try.cuh"

enum { N = 64, FLOATS = 16384 };

static __global__ void add(float *out, const float *x) {
    extern __shared__ float s[];
    s[FLOATS - 1 - threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[FLOATS - N + threadIdx.x];
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMalloc(&out, N * sizeof *out));
    TRY(cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice));
#ifdef MENDED
    size_t bytes = FLOATS * sizeof(float);
#else
    size_t bytes = 4 * FLOATS * sizeof(float);
#endif
    cudaFuncSetAttribute(add, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    add<<<1, N, bytes>>>(out, x); /* expect: launch failed */
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 43680);
}
