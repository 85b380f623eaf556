/* The host asks an event once whether the work is over, does not look at the answer, and
   goes on. */
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
    TRY(cudaMalloc(&out, sizeof host));
    fill<<<1, N, 0, first>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaEventRecord(filled, first));
#ifdef MENDED
    TRY(cudaEventSynchronize(filled));
#else
    cudaEventQuery(filled);
#endif
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
