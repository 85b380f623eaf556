/* Kernels in two streams write the same buffer. On a GPU they run at once, and each element comes
   from one or the other. */
#include "try.cuh"

enum { N = 64 };

static __global__ void fill(float *x, float value) {
    x[threadIdx.x] = value; /* expect: stream race */
}

int main(void) {
    float host[N], *x;
    cudaStream_t stream[2];
    TRY(cudaMalloc(&x, sizeof host));
    for (int s = 0; s < 2; s++) {
        TRY(cudaStreamCreate(&stream[s]));
        fill<<<1, N, 0, stream[s]>>>(x, s + 1);
        TRY(cudaGetLastError());
#ifdef MENDED
        TRY(cudaStreamSynchronize(stream[s]));
#endif
    }
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 2 * 2080);
}
