/* The memory is freed in a stream that knows nothing of the kernel that uses it. On a GPU the next
   owner of the memory may write into it while the kernel runs. */
#include "try.cuh"

enum { N = 64 };

static __global__ void fill(float *x, float value) {
    x[threadIdx.x] = value;
}

/* more reports follow */
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
    fill<<<1, N, 0, stream>>>(x, 2);
#ifdef MENDED
    TRY(cudaStreamSynchronize(stream));
#endif
    TRY(cudaFreeAsync(x, other)); /* expect: stream race */
    TRY(cudaDeviceSynchronize());
    TRY(cudaStreamDestroy(stream));
    TRY(cudaStreamDestroy(other));
    return expect(checksum(host, N), 2080);
}
