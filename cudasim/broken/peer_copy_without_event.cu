/* A stream of device 0 copies what the default stream of device 1 computes, and does not wait for
   it. A default stream orders the streams of its own device; between devices only events do. */
/* more reports follow */
/* devices: 2 */
#include "try.cuh"

enum { N = 64 };

static __global__ void fill(float *x, float value) {
    x[threadIdx.x] = value;
}

int main(void) {
    float host[N], *x, *copy;
    cudaStream_t copying;
    cudaEvent_t filled;
    TRY(cudaMalloc(&copy, sizeof host));
    TRY(cudaStreamCreate(&copying));
    TRY(cudaSetDevice(1));
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaEventCreate(&filled));
    fill<<<1, N>>>(x, 2);
    TRY(cudaGetLastError());
    TRY(cudaEventRecord(filled));
    TRY(cudaSetDevice(0));
#ifdef MENDED
    TRY(cudaStreamWaitEvent(copying, filled, 0));
#endif
    TRY(cudaMemcpyPeerAsync(copy, 0, x, 1, sizeof host, copying)); /* expect: stream race */
    TRY(cudaStreamSynchronize(copying));
    TRY(cudaEventSynchronize(filled));
    TRY(cudaMemcpy(host, copy, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaEventDestroy(filled));
    TRY(cudaStreamDestroy(copying));
    TRY(cudaFree(x));
    TRY(cudaFree(copy));
    return expect(checksum(host, N), 2 * 2080);
}
