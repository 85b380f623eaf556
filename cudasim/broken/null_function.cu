/* A table of functions has fewer entries than places: the last one is called by a pointer that is
   NULL. */
#include "try.cuh"

enum { N = 64 };

typedef float (*Map)(float);

static __device__ float twice(float x) {
    return 2 * x;
}
static __device__ float square(float x) {
    return x * x;
}
#ifdef MENDED
static __device__ Map table[3] = {twice, square, twice};
#else
static __device__ Map table[3] = {twice, square};
#endif

static __global__ void map(float *x) {
    int i = threadIdx.x;
    x[i] = table[i % 3]((float)i); /* expect: null pointer */
}

int main(void) {
    float host[N], *x;
    TRY(cudaMalloc(&x, sizeof host));
    map<<<1, N>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 1416408);
}
