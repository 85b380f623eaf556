/* Memory from cudaMallocAsync exists from its place in its stream on, and another stream uses it
   without waiting for that. On a GPU its last owner may still be at work. */
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
    TRY(cudaStreamSynchronize(stream));
#endif
    fill<<<1, N, 0, other>>>(x, 1); /* expect: stream race */
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(host, x, bytes, cudaMemcpyDeviceToHost));
    TRY(cudaFreeAsync(x, stream));
    TRY(cudaDeviceSynchronize());
    TRY(cudaStreamDestroy(stream));
    TRY(cudaStreamDestroy(other));
    return expect(checksum(host, N), 2080);
}
