/* A kernel in the default stream fills the buffer, and a stream made with cudaStreamNonBlocking
   copies it: such a stream does not wait for the default one. On a GPU old numbers may arrive. */
#include "try.cuh"

enum { N = 64 };

static __global__ void fill(float *x) {
    x[threadIdx.x] = 4;
}

int main(void) {
    size_t bytes = N * sizeof(float);
    float *host, *x;
    cudaStream_t copies;
    TRY(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
    TRY(cudaMallocHost(&host, bytes));
    TRY(cudaMalloc(&x, bytes));
    TRY(cudaMemset(x, 0, bytes));
    TRY(cudaDeviceSynchronize());
    fill<<<1, N>>>(x);
    TRY(cudaGetLastError());
#ifdef MENDED
    TRY(cudaStreamSynchronize(0));
#endif
    TRY(cudaMemcpyAsync(host, x, bytes, cudaMemcpyDefault, copies)); /* expect: stream race */
    TRY(cudaStreamSynchronize(copies));
    double result = checksum(host, N);
    TRY(cudaDeviceSynchronize());
    return expect(result, 4 * 2080);
}
