/* The host reads managed memory while the kernel that was given it may still run. */
#include "try.cuh"

__global__ void count(int *x) {
    x[threadIdx.x] = (int)threadIdx.x;
}

int main() {
    int *x;
    TRY(cudaMallocManaged(&x, 64 * sizeof *x));
    count<<<1, 64>>>(x);
#ifdef MENDED
    TRY(cudaDeviceSynchronize());
#endif
    double sum = x[63]; /* expect: pending kernel */
    TRY(cudaDeviceSynchronize());
    TRY(cudaFree(x));
    return expect(sum, 63);
}
