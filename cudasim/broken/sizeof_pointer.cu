/* cudaMalloc is told "sizeof x", 8 bytes of a pointer, and not the bytes of the array. On a GPU the
   kernel writes over its neighbours, or dies with "an illegal memory access". */
#include "try.cuh"

static __global__ void fill(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = 1; /* expect: out-of-bounds access */
    }
}

int main(void) {
    enum { N = 2000 };
    static float host[N];
    float *x;
#ifdef MENDED
    TRY(cudaMalloc(&x, N * sizeof *x));
#else
    TRY(cudaMalloc(&x, sizeof x));
#endif
    fill<<<(N + 255) / 256, 256>>>(x, N);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    return expect(checksum(host, N), 2001000);
}
