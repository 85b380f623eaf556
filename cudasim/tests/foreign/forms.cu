/* Kernels with default arguments, one whose last parameter is a pack, a host function of a kernel's
   name that has no parameters, code for the device by __CUDA_ARCH__, and dynamic shared memory that
   a launch without any does not touch. */
#include <cuda_runtime.h>

#include "check.cuh"

__global__ void fill(int *x, int n, int value = 7, const int *from = NULL) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        x[i] = from != NULL ? from[i] : value;
    }
}

/* The launch names the first argument of the template, and the others are deduced. */
template <int FIRST, class... Numbers> __global__ void list(int *x, Numbers... numbers) {
    int all[] = {FIRST, (int)numbers...};
    if (threadIdx.x < 1 + sizeof...(numbers)) {
        x[threadIdx.x] = all[threadIdx.x];
    }
}

__global__ void twice(int *x) {
    x[threadIdx.x] *= 2;
}

static int *memory;

static void twice() {
    twice<<<1, 32>>>(memory);
}

__global__ void architecture(int *x) {
#if __CUDA_ARCH__ >= 700
    *x = __CUDA_ARCH__;
#endif
}

__global__ void reverse(int *x, bool by_shared) {
    extern __shared__ int s[];
    int i = threadIdx.x, other = x[31 - i];
    if (by_shared) {
        s[i] = x[i];
        __syncthreads();
        other = s[31 - i];
    }
    __syncthreads();
    x[i] = other - i;
}

static int sum(int count) {
    int host[32], total = 0;
    OK(cudaMemcpy(host, memory, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; i++) {
        total += host[i];
    }
    return total;
}

int main() {
    int *ones;
    OK(cudaMalloc(&memory, 32 * sizeof(int)));
    OK(cudaMalloc(&ones, 32 * sizeof(int)));
    fill<<<1, 32>>>(memory, 32);
    MUST(sum(32) == 32 * 7);
    fill<<<1, 32>>>(ones, 32, 1);
    fill<<<1, 32>>>(memory, 32, 0, ones);
    MUST(sum(32) == 32);
    twice();
    MUST(sum(32) == 64);
    architecture<<<1, 1>>>(memory);
    MUST(sum(1) >= 700);
    list<1><<<1, 32>>>(memory, 20, 300.0f, 4000L);
    MUST(sum(4) == 4321);
    list<5><<<1, 32>>>(memory);
    MUST(sum(1) == 5);
    fill<<<1, 32>>>(memory, 32, 31);
    reverse<<<1, 32, 32 * sizeof(int)>>>(memory, true); /* 31 - i */
    reverse<<<1, 32>>>(memory, false);                  /* 31 - (31 - i) - i */
    MUST(sum(32) == 0);
    OK(cudaGetLastError());
    OK(cudaFree(ones));
    OK(cudaFree(memory));
}
