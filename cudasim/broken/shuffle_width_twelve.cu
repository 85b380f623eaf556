/* Groups of 12 lanes are summed with a shuffle of width 12. A width must be a power of two: on a
   GPU the result is undefined. */
#include "try.cuh"

enum { N = 32 };

static __global__ void sum(float *out, const float *x) {
    int i = threadIdx.x;
    float v = x[i];
#ifdef MENDED
    int width = 16;
#else
    int width = 12;
#endif
    for (int d = 8; d > 0; d /= 2) {
        v += __shfl_down_sync(0xffffffff, v, d, width); /* expect: undefined shuffle */
    }
    out[i] = i % width == 0 ? v : 0;
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMalloc(&out, N * sizeof *out));
    TRY(cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice));
    sum<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(host[0] + host[16], 496);
}
