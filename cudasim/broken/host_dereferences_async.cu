/* Memory from cudaMallocAsync is device memory as any other, and the host reads it directly. With a
   real GPU the program dies with a segmentation fault. */
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
    TRY(cudaStreamSynchronize(stream));
#ifdef MENDED
    TRY(cudaMemcpy(host, x, bytes, cudaMemcpyDeviceToHost));
#else
    for (int i = 0; i < N; i++) {
        host[i] = x[i]; /* expect: host access to device memory */
    }
#endif
    TRY(cudaFreeAsync(x, stream));
    TRY(cudaDeviceSynchronize());
    TRY(cudaStreamDestroy(stream));
    TRY(cudaStreamDestroy(other));
    return expect(checksum(host, N), 2080);
}
