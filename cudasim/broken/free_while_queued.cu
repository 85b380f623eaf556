/* The memory goes back to the pool while a kernel that uses it is queued in a stream that does not
   wait for the default one. On a GPU the next cudaMallocAsync may get it too early. */
#include "try.cuh"

enum { N = 64 };

static __global__ void copy(float *out, const float *x) {
    out[threadIdx.x] = x[threadIdx.x];
}

/* more reports follow */
int main(void) {
    float host[N], *x, *out;
    cudaStream_t stream;
    TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    TRY(cudaMalloc(&out, sizeof host));
    TRY(cudaMallocAsync(&x, sizeof host, 0));
    TRY(cudaMemsetAsync(x, 0, sizeof host, 0));
    TRY(cudaStreamSynchronize(0));
    copy<<<1, N, 0, stream>>>(out, x);
    TRY(cudaGetLastError());
#ifdef MENDED
    TRY(cudaStreamSynchronize(stream));
#endif
    TRY(cudaFreeAsync(x, 0)); /* expect: stream race */
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    return expect(checksum(host, N), 0);
}
