/* An event is recorded in the stream that will wait for it, not in the one that does the work. It
   waits for nothing. */
#include "try.cuh"

static __global__ void fill(float *x) {
    x[threadIdx.x] = threadIdx.x;
}

static __global__ void twice(float *out, const float *x) {
    out[threadIdx.x] = 2 * x[threadIdx.x]; /* expect: stream race */
}

int main(void) {
    enum { N = 32 };
    float host[N], *x, *out;
    cudaStream_t first, second;
    cudaEvent_t filled;
    TRY(cudaStreamCreate(&first));
    TRY(cudaStreamCreate(&second));
    TRY(cudaEventCreate(&filled));
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemset(x, 0, sizeof host));
    TRY(cudaDeviceSynchronize());
    TRY(cudaMalloc(&out, sizeof host));
    fill<<<1, N, 0, first>>>(x);
    TRY(cudaGetLastError());
#ifdef MENDED
    TRY(cudaEventRecord(filled, first));
#else
    TRY(cudaEventRecord(filled, second));
#endif
    TRY(cudaStreamWaitEvent(second, filled, 0));
    twice<<<1, N, 0, second>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaEventDestroy(filled));
    TRY(cudaStreamDestroy(second));
    TRY(cudaStreamDestroy(first));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 21824);
}
