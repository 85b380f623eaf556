/* The second stream waits for an event that was never created, and the status is thrown away: it
   waits for nothing. That nothing goes wrong here is only because the host has waited already. */
#include "try.cuh"

enum { N = 64 };

static __global__ void fill(float *x, float value) {
    x[threadIdx.x] = value;
}

static __global__ void add(float *to, const float *x) {
    to[threadIdx.x] = x[threadIdx.x] + 1;
}

int main(void) {
    float host[N], *x, *y;
    cudaStream_t first, second;
    cudaEvent_t filled = NULL;
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&y, sizeof host));
    TRY(cudaStreamCreate(&first));
    TRY(cudaStreamCreate(&second));
#ifdef MENDED
    TRY(cudaEventCreate(&filled));
    TRY(cudaEventRecord(filled, first));
#endif
    fill<<<1, N, 0, first>>>(x, 2);
    TRY(cudaStreamSynchronize(first));
    cudaStreamWaitEvent(second, filled, 0); /* expect: unchecked error */
    add<<<1, N, 0, second>>>(y, x);
    TRY(cudaMemcpyAsync(host, y, sizeof host, cudaMemcpyDeviceToHost, second));
    TRY(cudaStreamSynchronize(second));
#ifdef MENDED
    TRY(cudaEventDestroy(filled));
#endif
    TRY(cudaStreamDestroy(second));
    TRY(cudaStreamDestroy(first));
    TRY(cudaFree(y));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 3 * 2080);
}
