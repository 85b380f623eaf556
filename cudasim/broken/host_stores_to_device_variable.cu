/* The host sets a __constant__ variable as if it were its own. On a GPU it sets another variable of
   that name, and kernels find what was there before. */
#include "try.cuh"

enum { N = 64 };

static __constant__ float scale = 1;

static __global__ void fill(float *x) {
    x[threadIdx.x] = scale;
}

int main(void) {
    float host[N], *x;
    TRY(cudaMalloc(&x, sizeof host));
#ifdef MENDED
    float wanted = 4;
    TRY(cudaMemcpyToSymbol(scale, &wanted, sizeof wanted));
#else
    scale = 4; /* expect: host access to device memory */
#endif
    fill<<<1, N>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 4 * 2080);
}
