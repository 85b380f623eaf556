/* The kernel comes after cudaFreeAsync in the same stream. On a GPU the memory may belong to the
   next cudaMallocAsync by then. */
#include "try.cuh"

enum { N = 64 };

static __global__ void fill(float *x, float value) {
    x[threadIdx.x] = value;
}

int main(void) {
    size_t bytes = N * sizeof(float);
    float host[N], *x;
    cudaStream_t stream, other;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaStreamCreate(&other));
    TRY(cudaMallocAsync(&x, bytes, stream));
#ifdef MENDED
    fill<<<1, N, 0, stream>>>(x, 1);
    TRY(cudaGetLastError());
    TRY(cudaMemcpyAsync(host, x, bytes, cudaMemcpyDeviceToHost, stream));
    TRY(cudaFreeAsync(x, stream));
#else
    TRY(cudaFreeAsync(x, stream));
    fill<<<1, N, 0, stream>>>(x, 1); /* expect: use after free */
    TRY(cudaGetLastError());
    TRY(cudaMemcpyAsync(host, x, bytes, cudaMemcpyDeviceToHost, stream));
#endif
    TRY(cudaDeviceSynchronize());
    TRY(cudaStreamDestroy(stream));
    TRY(cudaStreamDestroy(other));
    return expect(checksum(host, N), 2080);
}
