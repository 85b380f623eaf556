/* A stream of device 0 copies what a stream of device 1 writes, and does not wait for it. Streams of
   two devices have no order but by events. */
/* more reports follow */
/* devices: 2 */
#include "try.cuh"

enum { N = 64 };

static __global__ void fill(float *x, float value) {
    x[threadIdx.x] = value;
}

int main(void) {
    float host[N], *x, *copy;
    cudaStream_t filling, copying;
    cudaEvent_t filled;
    TRY(cudaMalloc(&copy, sizeof host));
    TRY(cudaStreamCreateWithFlags(&copying, cudaStreamNonBlocking));
    TRY(cudaSetDevice(1));
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaStreamCreateWithFlags(&filling, cudaStreamNonBlocking));
    TRY(cudaEventCreate(&filled));
    fill<<<1, N, 0, filling>>>(x, 2);
    TRY(cudaGetLastError());
    TRY(cudaEventRecord(filled, filling));
    TRY(cudaSetDevice(0));
#ifdef MENDED
    TRY(cudaStreamWaitEvent(copying, filled, 0));
#endif
    TRY(cudaMemcpyPeerAsync(copy, 0, x, 1, sizeof host, copying)); /* expect: stream race */
    TRY(cudaStreamSynchronize(copying));
    TRY(cudaStreamSynchronize(filling));
    TRY(cudaMemcpy(host, copy, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaEventDestroy(filled));
    TRY(cudaStreamDestroy(filling));
    TRY(cudaStreamDestroy(copying));
    TRY(cudaFree(x));
    TRY(cudaFree(copy));
    return expect(checksum(host, N), 2 * 2080);
}
