/* The time of a kernel is read while the kernel may still run. On a GPU cudaEventElapsedTime then
   returns cudaErrorNotReady and no time. */
#include "try.cuh"

static __global__ void fill(float *x) {
    x[threadIdx.x] = threadIdx.x;
}

int main(void) {
    enum { N = 32 };
    float host[N], *x, ms = -1;
    cudaEvent_t start, stop;
    TRY(cudaEventCreate(&start));
    TRY(cudaEventCreate(&stop));
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaEventRecord(start));
    fill<<<1, N>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaEventRecord(stop));
#ifdef MENDED
    TRY(cudaEventSynchronize(stop));
#endif
    cudaEventElapsedTime(&ms, start, stop); /* expect: event misuse */
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaEventDestroy(stop));
    TRY(cudaEventDestroy(start));
    TRY(cudaFree(x));
    return expect(ms >= 0 ? checksum(host, N) : ms, 10912);
}
