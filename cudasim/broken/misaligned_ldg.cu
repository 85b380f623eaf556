/* __ldg() reads a float4 at an address that is not a multiple of 16. On a GPU the kernel dies with
   "misaligned address". */
#include "try.cuh"

static __global__ void add(float *out, const float *x) {
#ifdef MENDED
    const float *from = x + 4 * threadIdx.x;
#else
    const float *from = x + 4 * threadIdx.x + 1;
#endif
    float4 v = __ldg((const float4 *)from); /* expect: misaligned access */
    out[threadIdx.x] = v.x + v.y + v.z + v.w;
}

int main(void) {
    enum { N = 32 };
    float host[4 * N + 4], result[N];
    float *x, *out;
    for (int i = 0; i < 4 * N + 4; i++) {
        host[i] = i % 4;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&out, sizeof result));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    add<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(checksum(result, N), 6 * 528);
}
