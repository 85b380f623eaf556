/* cudaDeviceSynchronize() waits for the current device, and the copy is on its way on the other. On
   a GPU the host reads what was there before. */
/* devices: 2 */
#include "try.cuh"

enum { N = 64 };

static __global__ void fill(float *x, float value) {
    x[threadIdx.x] = value;
}

int main(void) {
    float *host, *x;
    TRY(cudaMallocHost(&host, N * sizeof *host));
    TRY(cudaSetDevice(1));
    TRY(cudaMalloc(&x, N * sizeof *x));
    fill<<<1, N>>>(x, 2);
    TRY(cudaGetLastError());
    TRY(cudaMemcpyAsync(host, x, N * sizeof *x, cudaMemcpyDeviceToHost));
#ifndef MENDED
    TRY(cudaSetDevice(0));
#endif
    TRY(cudaDeviceSynchronize());
    double sum = host[N - 1]; /* expect: pending copy */
    TRY(cudaFree(x));
    TRY(cudaFreeHost(host));
    return expect(sum, 2);
}
