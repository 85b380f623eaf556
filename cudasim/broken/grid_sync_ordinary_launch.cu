/* A kernel with a barrier over its grid is launched like any other: the blocks may never meet. */
#include <cooperative_groups.h>

#include "try.cuh"

__global__ void pass(float *x, float *y) {
    y[blockIdx.x] = x[blockIdx.x];
    cooperative_groups::this_grid().sync(); /* expect: launch failed */
    x[blockIdx.x] = y[(blockIdx.x + 1) % gridDim.x];
}

int main() {
    float host[4] = {0, 1, 2, 3}, *x, *y;
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&y, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
#ifdef MENDED
    void *arguments[] = {&x, &y};
    TRY(cudaLaunchCooperativeKernel(pass, dim3(4), dim3(1), arguments));
#else
    pass<<<4, 1>>>(x, y);
#endif
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaFree(y));
    return expect(checksum(host, 4), 1 + 2 * 2 + 3 * 3);
}
