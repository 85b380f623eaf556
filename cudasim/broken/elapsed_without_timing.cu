/* The time between two events is asked for, but they were made without timing, which is right for
   events that only order streams. On a GPU the call fails and the time stays what it was. */
#include "try.cuh"

static __global__ void fill(float *x) {
    x[threadIdx.x] = threadIdx.x;
}

int main(void) {
    enum { N = 32 };
    float host[N], *x, ms = -1;
    cudaEvent_t start, stop;
#ifdef MENDED
    unsigned flags = cudaEventDefault;
#else
    unsigned flags = cudaEventDisableTiming;
#endif
    TRY(cudaEventCreateWithFlags(&start, flags));
    TRY(cudaEventCreateWithFlags(&stop, flags));
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaEventRecord(start));
    fill<<<1, N>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaEventRecord(stop));
    TRY(cudaEventSynchronize(stop));
    cudaEventElapsedTime(&ms, start, stop); /* expect: event misuse */
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaEventDestroy(stop));
    TRY(cudaEventDestroy(start));
    TRY(cudaFree(x));
    return expect(ms >= 0 ? checksum(host, N) : ms, 10912);
}
