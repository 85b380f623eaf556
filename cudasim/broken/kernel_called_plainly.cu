/* A kernel is called like a function, without <<<grid, block>>>. nvcc does not compile that; a
   compiler that does not know of kernels would run one thread of it on the host, here in managed
   memory, where nothing else is wrong. */
/* says: launch it: fill<<<grid, block>>>(...) */
#include "try.cuh"

enum { N = 64 };

static __global__ void fill(float *x, float value) {
    x[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

int main(void) {
    float *x;
    TRY(cudaMallocManaged(&x, N * sizeof *x));
    fill<<<1, N>>>(x, 1);
    TRY(cudaDeviceSynchronize());
#ifdef MENDED
    fill<<<1, N>>>(x, 2);
#else
    fill(x, 2); /* expect: launch failed */
#endif
    TRY(cudaDeviceSynchronize());
    double sum = checksum(x, N);
    TRY(cudaFree(x));
    return expect(sum, 2 * 2080);
}
