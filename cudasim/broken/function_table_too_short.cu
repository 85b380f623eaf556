/* A table of functions has two entries and three are called: the last is NULL. */
#include "try.cuh"

enum { N = 64, KINDS = 3 };

typedef float Function(float);

static __device__ float twice(float x) {
    return 2 * x;
}

static __device__ float square(float x) {
    return x * x;
}

static __device__ float same(float x) {
    return x;
}

#ifdef MENDED
static __device__ Function *table[KINDS] = {twice, square, same};
#else
static __device__ Function *table[KINDS] = {twice, square};
#endif

static __global__ void apply(float *x) {
    int i = threadIdx.x;
    x[i] = table[i % KINDS]((float)i); /* expect: null pointer */
}

int main(void) {
    float host[N], *x;
    TRY(cudaMalloc(&x, sizeof host));
    apply<<<1, N>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 1387302);
}
