/* The host waits for an event that was recorded before the copy, so the copy may still be on its
   way. With a GPU the host reads old numbers now and then. */
#include "try.cuh"

int main(void) {
    size_t bytes = 32 * sizeof(float);
    float *host, *x;
    cudaStream_t stream;
    cudaEvent_t copied;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaEventCreate(&copied));
    TRY(cudaMallocHost(&host, bytes));
    TRY(cudaMalloc(&x, bytes));
    TRY(cudaMemsetAsync(x, 0, bytes, stream));
#ifndef MENDED
    TRY(cudaEventRecord(copied, stream));
#endif
    TRY(cudaMemcpyAsync(host, x, bytes, cudaMemcpyDeviceToHost, stream));
#ifdef MENDED
    TRY(cudaEventRecord(copied, stream));
#endif
    TRY(cudaEventSynchronize(copied));
    float first = host[0]; /* expect: pending copy */
    TRY(cudaDeviceSynchronize());
    TRY(cudaEventDestroy(copied));
    TRY(cudaStreamDestroy(stream));
    return expect(first, 0);
}
