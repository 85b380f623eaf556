/* A kernel is launched in a stream that was destroyed. On a GPU the launch fails, or the program
   crashes in the driver. */
#include "try.cuh"

static __global__ void fill(float *x) {
    x[threadIdx.x] = 1;
}

int main(void) {
    float host[32] = {0}, *x;
    cudaStream_t stream;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaMalloc(&x, sizeof host));
#ifndef MENDED
    TRY(cudaStreamDestroy(stream));
#endif
    fill<<<1, 32, 0, stream>>>(x); /* expect: use after free */
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
#ifdef MENDED
    TRY(cudaStreamDestroy(stream));
#endif
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, 32), 528);
}
