/* The input is never copied to the device. On a GPU the kernel computes with what was in that
   memory before: often zeros, sometimes the results of an earlier run. */
#include "try.cuh"

static __global__ void scale(float *out, const float *x) {
    out[threadIdx.x] = 2 * x[threadIdx.x]; /* expect: uninitialized device memory */
}

int main(void) {
    float host[32], *x, *out;
    for (int i = 0; i < 32; i++) {
        host[i] = 1;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&out, sizeof host));
#ifdef MENDED
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
#endif
    scale<<<1, 32>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(checksum(host, 32), 1056);
}
