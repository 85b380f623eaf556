/* A float4 is read from an address that is no multiple of 16. On a GPU the kernel dies with
   "misaligned address". */
#include "try.cuh"

static __global__ void copy(float4 *out, const float *x) {
#ifdef MENDED
    const float *from = x + 4 * threadIdx.x;
#else
    const float *from = x + 4 * threadIdx.x + 1;
#endif
    out[threadIdx.x] = *(const float4 *)from; /* expect: misaligned access */
}

int main(void) {
    enum { N = 32 };
    float host[4 * N + 4] = {0};
    float *x;
    float4 *out, result[N];
    host[4] = 7;
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&out, sizeof result));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    copy<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(result[1].x, 7);
}
