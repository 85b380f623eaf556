/* The host waits for one stream and reads what a copy in another brings. */
#include "try.cuh"

enum { N = 64 };

static __global__ void fill(float *x) {
    x[threadIdx.x] = 3;
}

int main(void) {
    float *x, *pinned;
    cudaStream_t first, second;
    TRY(cudaStreamCreate(&first));
    TRY(cudaStreamCreate(&second));
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMallocHost(&pinned, N * sizeof *x));
    fill<<<1, N, 0, first>>>(x);
    TRY(cudaMemcpyAsync(pinned, x, N * sizeof *x, cudaMemcpyDeviceToHost, first));
#ifdef MENDED
    TRY(cudaStreamSynchronize(first));
#else
    TRY(cudaStreamSynchronize(second));
#endif
    float last = pinned[N - 1]; /* expect: pending copy */
    TRY(cudaDeviceSynchronize());
    TRY(cudaFree(x));
    TRY(cudaFreeHost(pinned));
    TRY(cudaStreamDestroy(first));
    TRY(cudaStreamDestroy(second));
    return expect(last, 3);
}
