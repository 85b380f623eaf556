/* An assertion of a kernel does not hold for one thread. */
#include <assert.h>

#include "try.cuh"

__global__ void root(float *x) {
    assert(x[threadIdx.x] >= 0); /* expect: launch failed */
    x[threadIdx.x] = sqrtf(x[threadIdx.x]);
}

int main() {
    float host[32], *x;
    for (int i = 0; i < 32; i++) {
        host[i] = 4;
    }
#ifndef MENDED
    host[7] = -4;
#endif
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    root<<<1, 32>>>(x);
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(host[0], 2);
}
