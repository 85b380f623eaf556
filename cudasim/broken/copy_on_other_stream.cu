/* The input is copied in one stream and used in another, with nothing between the two. On a GPU the
   kernel may begin before the copy has ended. */
#include "try.cuh"

enum { N = 64 };

static __global__ void twice(float *x) {
    x[threadIdx.x] *= 2; /* expect: stream race */
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
    for (int i = 0; i < N; i++) {
        host[i] = 1;
    }
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpyAsync(x, host, bytes, cudaMemcpyHostToDevice, copies));
#ifdef MENDED
    TRY(cudaStreamSynchronize(copies));
#endif
    twice<<<1, N, 0, kernels>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(host, x, bytes, cudaMemcpyDeviceToHost));
    return expect(checksum(host, N), 2 * 2080);
}
