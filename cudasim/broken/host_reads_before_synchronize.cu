/* The result is copied to pinned memory in a stream, and the host reads it without waiting. With a
   GPU it reads the old contents if the copy is slow, and the right ones in the debugger. */
#include "try.cuh"

static __global__ void fill(float *x) {
    x[threadIdx.x] = 3;
}

int main(void) {
    size_t bytes = 32 * sizeof(float);
    float *host, *x;
    cudaStream_t stream;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaMallocHost(&host, bytes));
    TRY(cudaMalloc(&x, bytes));
    fill<<<1, 32, 0, stream>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpyAsync(host, x, bytes, cudaMemcpyDeviceToHost, stream));
#ifdef MENDED
    TRY(cudaStreamSynchronize(stream));
#endif
    float first = host[0]; /* expect: pending copy */
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaFreeHost(host));
    TRY(cudaFree(x));
    TRY(cudaStreamDestroy(stream));
    return expect(first, 3);
}
