/* The host reads the result through the device pointer. With a real GPU the program dies with a
   segmentation fault. */
#include "try.cuh"

static __global__ void fill(float *x) {
    x[threadIdx.x] = 5;
}

int main(void) {
    float *x;
    TRY(cudaMalloc(&x, 32 * sizeof(float)));
    fill<<<1, 32>>>(x);
    TRY(cudaDeviceSynchronize());
#ifdef MENDED
    float first;
    TRY(cudaMemcpy(&first, x, sizeof first, cudaMemcpyDeviceToHost));
#else
    float first = x[0]; /* expect: host access to device memory */
#endif
    TRY(cudaFree(x));
    return expect(first, 5);
}
