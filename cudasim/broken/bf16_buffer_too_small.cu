/* The buffer was made with a byte for each element, and a bf16 number has two. On a GPU the second
   half lands behind it. */
#include <cuda_bf16.h>

#include "try.cuh"

enum { N = 64 };

static __global__ void fill(__nv_bfloat16 *x) {
    x[threadIdx.x] = __float2bfloat16(1.0f); /* expect: out-of-bounds access */
}

static __global__ void widen(float *out, const __nv_bfloat16 *x) {
    out[threadIdx.x] = __bfloat162float(x[threadIdx.x % 8]);
}

int main(void) {
    float host[N];
    __nv_bfloat16 *x;
    float *out;
    TRY(cudaMalloc(&out, sizeof host));
#ifdef MENDED
    TRY(cudaMalloc(&x, N * sizeof *x));
#else
    TRY(cudaMalloc(&x, N));
#endif
    fill<<<1, N>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    widen<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 2080);
}
