/* Each warp stores its sum, and the first warp adds the sums up without waiting for the others. */
/* says: a __syncthreads() is missing */
#include "try.cuh"

enum { N = 128 };

static __global__ void sum(float *out, const float *x) {
    __shared__ float part[N / 32];
    int i = threadIdx.x;
    float v = x[i];
    for (int d = 16; d > 0; d /= 2) {
        v += __shfl_down_sync(0xffffffff, v, d);
    }
    if (i % 32 == 0) {
        part[i / 32] = v;
    }
#ifdef MENDED
    __syncthreads();
#endif
    if (i == 0) {
        float s = 0;
        for (int w = 0; w < N / 32; w++) {
            s += part[w]; /* expect: race */
        }
        out[0] = s;
    }
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMalloc(&out, 1 * sizeof *out));
    TRY(cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice));
    sum<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, 1 * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(host[0], 8128);
}
