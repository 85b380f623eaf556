/* i <= n instead of i < n: one element too many is written. Allocations of a GPU are padded to 256
   bytes or more, so nothing happens until two buffers lie back to back in a pool. */
#include "try.cuh"

static __global__ void negate(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef MENDED
    if (i < n) {
#else
    if (i <= n) {
#endif
        x[i] = -1.0f * i; /* expect: out-of-bounds access */
    }
}

int main(void) {
    enum { N = 101 };
    static float host[N];
    float *x;
    TRY(cudaMalloc(&x, sizeof host));
    negate<<<1, 128>>>(x, N);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), -343400);
}
