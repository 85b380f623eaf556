/* A group of the whole block is synchronised within a branch that not all of its threads take. */
#include <cooperative_groups.h>

#include "try.cuh"

enum { N = 64 };

static __global__ void turn(int *x, int n) {
    __shared__ int copy[N];
    auto block = cooperative_groups::this_thread_block();
    int i = (int)block.thread_rank();
    if (i < n) {
        copy[i] = x[i];
#ifndef MENDED
        block.sync(); /* expect: barrier divergence */
#endif
    }
#ifdef MENDED
    block.sync();
#endif
    if (i < n) {
        x[i] = copy[n - 1 - i];
    }
}

int main(void) {
    int host[N], *x;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    turn<<<1, N>>>(x, 50);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(host[0], 49);
}
