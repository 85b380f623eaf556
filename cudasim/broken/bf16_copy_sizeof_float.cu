/* The copy counts 4 bytes for each element of a bf16 buffer. On a GPU it fails with "invalid
   argument", or overwrites what follows. */
#include <cuda_bf16.h>

#include "try.cuh"

enum { N = 64 };

static __global__ void widen(float *out, const __nv_bfloat16 *x) {
    out[threadIdx.x] = __bfloat162float(x[threadIdx.x]);
}

int main(void) {
    float host[N];
    __nv_bfloat16 narrow[N + 2], *x;
    float *out;
    for (int i = 0; i < N + 2; i++) {
        narrow[i] = __float2bfloat16(1.0f);
    }
    size_t bytes = N * sizeof(__nv_bfloat16);
    TRY(cudaMalloc(&out, sizeof host));
    TRY(cudaMalloc(&x, bytes));
#ifndef MENDED
    bytes = N * sizeof(float);
#endif
    TRY(cudaMemcpy(x, narrow, bytes, cudaMemcpyHostToDevice)); /* expect: out-of-bounds access */
    widen<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 2080);
}
