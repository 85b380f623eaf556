/* A filter of five weights by a pointer, from -2 to 3 instead of to 2: one number past the end of
   __constant__ memory. */
/* clang: not seen */
#include "try.cuh"

enum { N = 64, RADIUS = 2 };

static __constant__ float weights[2 * RADIUS + 1];

static __global__ void filter(float *x, int last) {
    const float *middle = weights + RADIUS;
    float sum = 0;
    for (int i = -RADIUS; i <= last; i++) {
        sum += middle[i]; /* expect: out-of-bounds access */
    }
    x[threadIdx.x] = sum;
}

int main(void) {
    float host[N] = {1, 2, 3, 4, 5}, *x;
#ifdef MENDED
    int last = RADIUS;
#else
    int last = RADIUS + 1;
#endif
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpyToSymbol(weights, host, sizeof weights));
    filter<<<1, N>>>(x, last);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 31200);
}
