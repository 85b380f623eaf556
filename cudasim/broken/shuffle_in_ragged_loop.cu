/* Lanes sum up elements in a loop and shuffle within it, with the full mask; but lanes with fewer
   elements have left the loop. */
#include "try.cuh"

enum { N = 48 };

static __global__ void sum(float *out, const float *x) {
    int i = threadIdx.x;
    float s = 0;
#ifdef MENDED
    for (int k = 0; k < N; k += 32) {
        float v = k + i < N ? x[k + i] : 0;
#else
    for (int k = i; k < N; k += 32) {
        float v = x[k];
#endif
        for (int d = 16; d > 0; d /= 2) {
            v += __shfl_xor_sync(0xffffffff, v, d); /* expect: undefined shuffle */
        }
        s += v;
    }
    out[i] = s;
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMalloc(&out, 32 * sizeof *out));
    TRY(cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice));
    sum<<<1, 32>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, 32 * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(host[0], 1128);
}
