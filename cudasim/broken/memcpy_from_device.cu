/* memcpy instead of cudaMemcpy. With a real GPU the program dies with a segmentation fault. */
#include "try.cuh"

#include <string.h>

static __global__ void fill(float *x) {
    x[threadIdx.x] = 1;
}

int main(int count, char **arguments) {
    (void)arguments;
    float host[32] = {0}, *x;
    size_t bytes = count * 32 * sizeof(float);
    TRY(cudaMalloc(&x, bytes));
    fill<<<1, 32>>>(x);
    TRY(cudaDeviceSynchronize());
#ifdef MENDED
    TRY(cudaMemcpy(host, x, bytes, cudaMemcpyDeviceToHost));
#else
    memcpy(host, x, bytes); /* expect: host access to device memory */
#endif
    TRY(cudaFree(x));
    return expect(checksum(host, 32), 528);
}
