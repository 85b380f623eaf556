/* cudaFreeAsync is given the host array. On a GPU the call fails with "invalid argument". */
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
    fill<<<1, N, 0, stream>>>(x, 1);
    TRY(cudaGetLastError());
    TRY(cudaMemcpyAsync(host, x, bytes, cudaMemcpyDeviceToHost, stream));
#ifdef MENDED
    TRY(cudaFreeAsync(x, stream));
#else
    TRY(cudaFreeAsync(host, stream)); /* expect: invalid free */
#endif
    TRY(cudaDeviceSynchronize());
    TRY(cudaStreamDestroy(stream));
    TRY(cudaStreamDestroy(other));
    return expect(checksum(host, N), 2080);
}
