/* A pair of bf16 numbers is read at an odd element: a __nv_bfloat162 needs an address that is a
   multiple of 4. On a GPU the kernel dies with "misaligned address". */
#include <cuda_bf16.h>

#include "try.cuh"

enum { N = 64 };

static __global__ void widen(float *out, const __nv_bfloat16 *x) {
    __nv_bfloat162 pair =
        *(const __nv_bfloat162 *)(x + 2 * threadIdx.x); /* expect: misaligned access */
    out[2 * threadIdx.x] = __bfloat162float(pair.x);
    out[2 * threadIdx.x + 1] = __bfloat162float(pair.y);
}

int main(void) {
    float host[N];
    __nv_bfloat16 narrow[N + 2], *x;
    float *out;
    for (int i = 0; i < N + 2; i++) {
        narrow[i] = __float2bfloat16(1.0f);
    }
    TRY(cudaMalloc(&x, sizeof narrow));
    TRY(cudaMalloc(&out, sizeof host));
    TRY(cudaMemcpy(x, narrow, sizeof narrow, cudaMemcpyHostToDevice));
#ifdef MENDED
    widen<<<1, N / 2>>>(out, x);
#else
    widen<<<1, N / 2>>>(out, x + 1);
#endif
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 2080);
}
