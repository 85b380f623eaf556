/* The stream belongs to device 1, and device 0 is current at the launch. On a GPU the kernel does
   not run, and only cudaGetLastError() tells. */
/* devices: 2 */
#include "try.cuh"

enum { N = 64 };

static __global__ void fill(float *x, float value) {
    x[threadIdx.x] = value;
}

int main(void) {
    float host[N] = {0}, *x;
    cudaStream_t stream;
    TRY(cudaSetDevice(1));
    TRY(cudaStreamCreate(&stream));
    TRY(cudaMalloc(&x, sizeof host));
#ifndef MENDED
    TRY(cudaSetDevice(0));
#endif
    fill<<<1, N, 0, stream>>>(x, 2); /* expect: launch failed */
    TRY(cudaGetLastError());
    TRY(cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, stream));
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaStreamDestroy(stream));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 2 * 2080);
}
