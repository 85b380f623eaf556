/* Atomics and fences of a block's scope, where they suffice: shared memory, a number of the block's
   own, a flag between warps. Atomics of kernels that run at a time. */
#include <cuda_runtime.h>

#include "check.cuh"

static __global__ void histogram(int *out, const unsigned char *x, int n) {
    __shared__ int bins[16];
    if (threadIdx.x < 16) {
        bins[threadIdx.x] = 0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        atomicAdd_block(&bins[x[i] % 16], 1);
    }
    __syncthreads();
    if (threadIdx.x < 16) {
        out[blockIdx.x * 16 + threadIdx.x] = bins[threadIdx.x];
    }
}

static __global__ void own_number(int *n) {
    atomicAdd_block(&n[blockIdx.x], 1);
    atomicAdd(&n[blockIdx.x], 1);
    atomicMax_block(&n[gridDim.x + blockIdx.x], (int)threadIdx.x);
}

static __global__ void more(int *n) {
    atomicAdd(&n[threadIdx.x % gridDim.x], 1);
}

static __global__ void warps(int *out) {
    __shared__ int data, flag;
    if (threadIdx.x == 0) {
        flag = 0;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        data = 9;
        __threadfence_block();
        atomicExch(&flag, 1);
    } else if (threadIdx.x == 32) {
        while (atomicAdd(&flag, 0) == 0) {
        }
        __threadfence_block();
        *out = data;
    }
}
static __global__ void count(int *n, int step) {
    atomicAdd(n, step);
}

/* Two streams count in one number, and nothing else orders them. */
static void two_streams(int *n) {
    cudaStream_t first, second;
    int result;
    OK(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    OK(cudaMemset(n, 0, sizeof *n));
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 3; i++) {
        count<<<2, 32, 0, first>>>(n, 1);
        count<<<2, 32, 0, second>>>(n, 10);
    }
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(&result, n, sizeof result, cudaMemcpyDeviceToHost));
    MUST(result == 3 * 64 * 11);
    OK(cudaStreamDestroy(first));
    OK(cudaStreamDestroy(second));
}

int main(void) {
    unsigned char host[500], *x;
    int *out, got[64];
    for (int i = 0; i < 500; i++) {
        host[i] = i;
    }
    OK(cudaMalloc(&x, sizeof host));
    OK(cudaMalloc(&out, sizeof got));
    OK(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    histogram<<<4, 96>>>(out, x, 500);
    OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    MUST(got[0] == 32 && got[63] == 31);
    OK(cudaMemset(out, 0, sizeof got));
    own_number<<<4, 64>>>(out);
    more<<<4, 64>>>(out);
    own_number<<<4, 64>>>(out);
    OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    MUST(got[0] == 2 * 128 + 64 && got[3] == got[0] && got[7] == 63);
    warps<<<1, 64>>>(out);
    OK(cudaMemcpy(got, out, sizeof *got, cudaMemcpyDeviceToHost));
    MUST(got[0] == 9);
    two_streams(out);
    OK(cudaFree(x));
    OK(cudaFree(out));
    return 0;
}
