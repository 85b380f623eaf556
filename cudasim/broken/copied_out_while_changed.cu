/* A buffer is copied to the host in one stream while a kernel in another adds to it. On a GPU the
   copy takes some elements from before and some from after. Each thread reads its element before
   it stores, and that read must not hide the copy's. */
#include "try.cuh"

enum { N = 64 };

static __global__ void step(float *x) {
    x[threadIdx.x] += 1; /* expect: stream race */
}

int main(void) {
    size_t bytes = N * sizeof(float);
    float *host, *x;
    cudaStream_t copies, kernels;
    TRY(cudaStreamCreate(&copies));
    TRY(cudaStreamCreate(&kernels));
    TRY(cudaMallocHost(&host, bytes));
    TRY(cudaMalloc(&x, bytes));
    TRY(cudaMemset(x, 0, bytes));
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpyAsync(host, x, bytes, cudaMemcpyDeviceToHost, copies));
#ifdef MENDED
    TRY(cudaStreamSynchronize(copies));
#endif
    step<<<1, N, 0, kernels>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    double sum = checksum(host, N);
    TRY(cudaFreeHost(host));
    TRY(cudaFree(x));
    return expect(sum, 0);
}
