/* memset instead of cudaMemset. With a real GPU the program dies with a segmentation fault. */
#include "try.cuh"

#include <string.h>

static __global__ void add(float *x) {
    x[threadIdx.x] += 1;
}

int main(int count, char **arguments) {
    (void)arguments;
    float host[32], *x;
    size_t bytes = count * 32 * sizeof(float);
    TRY(cudaMalloc(&x, bytes));
#ifdef MENDED
    TRY(cudaMemset(x, 0, bytes));
#else
    memset(x, 0, bytes); /* expect: host access to device memory */
#endif
    add<<<1, 32>>>(x);
    TRY(cudaMemcpy(host, x, bytes, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, 32), 528);
}
