/* Barriers over a whole grid: all blocks write, all wait, all read what others wrote. */
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include "check.cuh"

namespace cg = cooperative_groups;

enum { THREADS = 128, STEPS = 5 };

/* Only the first of the workers that will run the blocks of the others has had this variable. */
__global__ void before_all(float *x) {
    __shared__ float last[THREADS];
    last[threadIdx.x] = (float)threadIdx.x;
    __syncthreads();
    x[threadIdx.x] = last[THREADS - 1 - threadIdx.x];
}

__device__ int *kept_number() {
    __shared__ int number;
    return &number;
}

__global__ void turn(float *x, float *y, int n) {
    __shared__ int steps;
    cg::grid_group grid = cg::this_grid();
    int i = (int)grid.thread_rank();
    if (threadIdx.x == 0) {
        steps = 0;
    }
    for (int step = 0; step < STEPS; step++) {
        y[i] = x[(i + THREADS) % n];
        grid.sync();
        x[i] = y[i] + 1;
        if (threadIdx.x == 0) {
            steps++;
            *kept_number() = step == 0 ? 1 : *kept_number() + 1;
        }
        grid.sync();
    }
    if (i < n && (steps != STEPS || *kept_number() != STEPS)) {
        x[i] = -1;
    }
}

int main() {
    cudaDeviceProp device;
    int blocks = 0;
    OK(cudaGetDeviceProperties(&device, 0));
    MUST(device.cooperativeLaunch == 1);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, turn, THREADS, 0));
    blocks = blocks * device.multiProcessorCount < 6 ? blocks * device.multiProcessorCount : 6;
    int n = blocks * THREADS;
    float *x, *y, *host = (float *)malloc(n * sizeof *host);
    OK(cudaMalloc(&x, n * sizeof *x));
    OK(cudaMalloc(&y, n * sizeof *y));
    before_all<<<1, THREADS>>>(x);
    for (int i = 0; i < n; i++) {
        host[i] = (float)i;
    }
    OK(cudaMemcpy(x, host, n * sizeof *x, cudaMemcpyHostToDevice));
    void *arguments[] = {&x, &y, &n};
    OK(cudaLaunchCooperativeKernel((void *)turn, dim3(blocks), dim3(THREADS), arguments, 0, 0));
    OK(cudaMemcpy(host, x, n * sizeof *x, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        MUST(host[i] == (float)((i + STEPS * THREADS) % n + STEPS));
    }
    free(host);
    OK(cudaFree(x));
    OK(cudaFree(y));
    return 0;
}
