/* Memory of cudaMallocAsync() and what a kernel stores there belong to the first stream; the second
   one reads both without waiting. One event is missing, not two. */
#include "try.cuh"

enum { N = 64 };

static __global__ void fill(float *x) {
    x[threadIdx.x] = threadIdx.x;
}

static __global__ void twice(float *out, const float *x) {
    out[threadIdx.x] = 2 * x[threadIdx.x];
}

int main() {
    float host[N], *x, *out;
    cudaStream_t first, second;
    cudaEvent_t filled;
    TRY(cudaStreamCreate(&first));
    TRY(cudaStreamCreate(&second));
    TRY(cudaEventCreate(&filled));
    TRY(cudaMalloc(&out, sizeof host));
    TRY(cudaMallocAsync(&x, sizeof host, first));
    fill<<<1, N, 0, first>>>(x);
    TRY(cudaEventRecord(filled, first));
#ifdef MENDED
    TRY(cudaStreamWaitEvent(second, filled, 0));
#endif
    twice<<<1, N, 0, second>>>(out, x); /* expect: stream race */
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFreeAsync(x, first));
    TRY(cudaFree(out));
    TRY(cudaEventDestroy(filled));
    TRY(cudaStreamDestroy(first));
    TRY(cudaStreamDestroy(second));
    return expect(checksum(host, N), 2 * (64.0 * 65 * 129 / 6 - 2080));
}
