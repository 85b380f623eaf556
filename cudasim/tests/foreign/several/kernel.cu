#include <cuda_runtime.h>

static __global__ void number(int *x) {
    x[threadIdx.x] = (int)threadIdx.x + 1;
}

void fill(int *x, int n) {
    number<<<1, n>>>(x);
}
