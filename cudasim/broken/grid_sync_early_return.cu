/* Blocks beyond the data return before the barrier over the grid, and the others wait for them. */
#include <cooperative_groups.h>

#include "try.cuh"

__global__ void pass(float *x, float *y, int n) {
    int i = blockIdx.x;
#ifndef MENDED
    if (i >= n) {
        return;
    }
#endif
    if (i < n) {
        y[i] = x[i];
    }
    cooperative_groups::this_grid().sync(); /* expect: barrier divergence */
    if (i < n) {
        x[i] = y[(i + 1) % n];
    }
}

int main() {
    int n = 3;
    float host[3] = {0, 1, 2}, *x, *y;
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&y, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    void *arguments[] = {&x, &y, &n};
    TRY(cudaLaunchCooperativeKernel(pass, dim3(4), dim3(1), arguments));
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaFree(y));
    return expect(checksum(host, 3), 1 + 2 * 2);
}
