/* Pairs are read for an odd number of elements, so the last pair has only one. On a GPU the second
   half is left-over memory. */
#include <cuda_bf16.h>

#include "try.cuh"

enum { N = 64 };

static __global__ void widen(float *out, const __nv_bfloat162 *x, int n) {
    int i = threadIdx.x;
#ifdef MENDED
    if (2 * i + 1 < n) {
#else
    if (2 * i < n) {
#endif
        __nv_bfloat162 pair = x[i]; /* expect: out-of-bounds access */
        out[2 * i] = __bfloat162float(pair.x);
        out[2 * i + 1] = __bfloat162float(pair.y);
    }
}

int main(void) {
    float host[N];
    __nv_bfloat16 narrow[N + 2], *x;
    float *out;
    for (int i = 0; i < N + 2; i++) {
        narrow[i] = __float2bfloat16(1.0f);
    }
    TRY(cudaMalloc(&out, sizeof host));
    TRY(cudaMalloc(&x, (N - 1) * sizeof *x));
    TRY(cudaMemcpy(x, narrow, (N - 1) * sizeof *x, cudaMemcpyHostToDevice));
    for (int i = 0; i < N; i++) {
        host[i] = 1;
    }
    TRY(cudaMemcpy(out, host, sizeof host, cudaMemcpyHostToDevice));
    widen<<<1, N / 2>>>(out, (const __nv_bfloat162 *)x, N - 1);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 2080);
}
