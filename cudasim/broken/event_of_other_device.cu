/* The event was created with device 0 current, and is recorded in a stream of device 1. On a GPU
   the call fails, and who waits for the event waits for nothing. */
/* devices: 2 */
#include "try.cuh"

enum { N = 64 };

static __global__ void fill(float *x, float value) {
    x[threadIdx.x] = value;
}

int main(void) {
    float host[N], *x;
    cudaEvent_t filled;
#ifdef MENDED
    TRY(cudaSetDevice(1));
#endif
    TRY(cudaEventCreate(&filled));
    TRY(cudaSetDevice(1));
    TRY(cudaMalloc(&x, sizeof host));
    fill<<<1, N>>>(x, 2);
    TRY(cudaGetLastError());
    TRY(cudaEventRecord(filled)); /* expect: event misuse */
    TRY(cudaEventSynchronize(filled));
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaEventDestroy(filled));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 2 * 2080);
}
