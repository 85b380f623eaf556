/* The pointer was moved along the buffer before it is freed. cudaFree wants the address that
   cudaMalloc gave: on a GPU it fails, and the buffer is lost. */
#include "try.cuh"

static __global__ void fill(float *x) {
    x[threadIdx.x] = 1;
}

int main(void) {
    float host[64], *x;
    TRY(cudaMalloc(&x, sizeof host));
    for (int part = 0; part < 2; part++) {
        fill<<<1, 32>>>(x + 32 * part);
        TRY(cudaGetLastError());
    }
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
#ifndef MENDED
    x += 32;
#endif
    TRY(cudaFree(x)); /* expect: invalid free */
    return expect(checksum(host, 64), 2080);
}
