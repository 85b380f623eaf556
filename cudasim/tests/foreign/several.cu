/* A program of several files: a kernel in another .cu, a host function in a .cpp.
   more: cudasim/tests/foreign/several/kernel.cu cudasim/tests/foreign/several/host.cpp */
#include <cuda_runtime.h>

#include "check.cuh"

void fill(int *x, int n);
int next(int x);

int main() {
    int *x, host[64];
    OK(cudaMalloc(&x, sizeof host));
    fill(x, 64);
    OK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) {
        MUST(host[i] == next(i));
    }
    OK(cudaFree(x));
    return 0;
}
