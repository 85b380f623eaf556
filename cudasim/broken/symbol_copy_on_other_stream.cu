/* New coefficients are copied to a __constant__ variable in one stream, while a kernel in another
   one reads them. */
#include "try.cuh"

enum { N = 64 };

static __constant__ float scale[N];

static __global__ void apply(float *x) {
    x[threadIdx.x] *= scale[threadIdx.x]; /* expect: stream race */
}

int main(void) {
    float host[N], *x, *pinned;
    cudaStream_t copies, kernels;
    cudaEvent_t copied;
    TRY(cudaStreamCreate(&copies));
    TRY(cudaStreamCreate(&kernels));
    TRY(cudaEventCreate(&copied));
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMallocHost(&pinned, sizeof host));
    for (int i = 0; i < N; i++) {
        host[i] = 1;
        pinned[i] = 5;
    }
    TRY(cudaMemcpyToSymbol(scale, host, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    TRY(cudaMemcpyToSymbolAsync(scale, pinned, sizeof host, 0, cudaMemcpyHostToDevice, copies));
    TRY(cudaEventRecord(copied, copies));
#ifdef MENDED
    TRY(cudaStreamWaitEvent(kernels, copied, 0));
#endif
    apply<<<1, N, 0, kernels>>>(x);
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaFreeHost(pinned));
    TRY(cudaEventDestroy(copied));
    TRY(cudaStreamDestroy(copies));
    TRY(cudaStreamDestroy(kernels));
    return expect(checksum(host, N), 5 * 2080);
}
