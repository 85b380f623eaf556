/* A kernel in the second stream reads what a kernel in the first one writes, and does not wait for
   it. On a GPU both may run at once. */
#include "try.cuh"

enum { N = 64 };

static __global__ void fill(float *x) {
    x[threadIdx.x] = 4;
}

static __global__ void twice(float *out, const float *x) {
    out[threadIdx.x] = 2 * x[threadIdx.x]; /* expect: stream race */
}

int main(void) {
    float host[N], *x, *out;
    cudaStream_t first, second;
    cudaEvent_t filled;
    TRY(cudaStreamCreate(&first));
    TRY(cudaStreamCreate(&second));
    TRY(cudaEventCreate(&filled));
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&out, sizeof host));
    TRY(cudaMemset(x, 0, sizeof host));
    TRY(cudaDeviceSynchronize());
    fill<<<1, N, 0, first>>>(x);
    TRY(cudaEventRecord(filled, first));
#ifdef MENDED
    TRY(cudaStreamWaitEvent(second, filled, 0));
#endif
    twice<<<1, N, 0, second>>>(out, x);
    TRY(cudaStreamSynchronize(second));
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaDeviceSynchronize());
    TRY(cudaEventDestroy(filled));
    TRY(cudaStreamDestroy(first));
    TRY(cudaStreamDestroy(second));
    return expect(checksum(host, N), 8 * 2080);
}
