/* A float2 is copied from an address that is not a multiple of 8. On a GPU the kernel dies with
   "misaligned address". */
/* clang: not seen */
#include "try.cuh"

static __global__ void add(float *out, const float *x) {
#ifdef MENDED
    const float *from = x + 2 * threadIdx.x;
#else
    const float *from = x + 2 * threadIdx.x + 1;
#endif
    float2 v = *(const float2 *)from; /* expect: misaligned access */
    out[threadIdx.x] = v.x + v.y;
}

int main(void) {
    enum { N = 32 };
    float host[2 * N + 2], result[N];
    float *x, *out;
    for (int i = 0; i < 2 * N + 2; i++) {
        host[i] = i % 2;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&out, sizeof result));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    add<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(checksum(result, N), 528);
}
