/* Blocks and warps that wait for each other in a loop: a grid's barrier by an atomic counter and by
   a volatile one, a chain of blocks, a flag between two warps, a ring of warps. */
#include <string.h>

#include "check.cuh"

enum { BLOCKS = 8, THREADS = 64, STEPS = 5, N = BLOCKS * THREADS };

__device__ unsigned arrived;

/* Counts on, so that it can be used again. */
__device__ void grid_barrier(unsigned step) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(&arrived, 1);
        while (atomicAdd(&arrived, 0) < (step + 1) * gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
}

__device__ void volatile_barrier(volatile unsigned *count, unsigned step) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd((unsigned *)count, 1);
        while (*count < (step + 1) * gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
}

/* Each element becomes the sum of its two neighbours, with the ends joined. */
__global__ void by_atomic(int *from, int *to) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned step = 0; step < STEPS; step++) {
        to[i] = from[(i + N - 1) % N] + from[(i + 1) % N];
        grid_barrier(step);
        int *swap = from;
        from = to;
        to = swap;
    }
}

__global__ void by_volatile(int *from, int *to, unsigned *count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (unsigned step = 0; step < STEPS; step++) {
        to[i] = from[(i + N - 1) % N] + from[(i + 1) % N];
        volatile_barrier(count, step);
        int *swap = from;
        from = to;
        to = swap;
    }
}

/* Block b adds to what block b + 1 has left: the first to run waits for the last. */
__global__ void chain(int *sum, int *ready) {
    if (threadIdx.x == 0) {
        int next = blockIdx.x + 1;
        while (next < gridDim.x && atomicAdd(&ready[next], 0) == 0) {
            __nanosleep(20);
        }
        __threadfence();
        sum[blockIdx.x] = blockIdx.x + (next < gridDim.x ? atomicAdd(&sum[next], 0) : 0);
        __threadfence();
        atomicExch(&ready[blockIdx.x], 1);
    }
}

/* The second warp produces, the first consumes. */
__global__ void warps(int *out) {
    __shared__ volatile int flag;
    __shared__ volatile int value;
    if (threadIdx.x == 0) {
        flag = 0;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        while (flag == 0) {
        }
        __threadfence_block();
        out[blockIdx.x] = value;
    }
    if (threadIdx.x == 32) {
        value = 7 + blockIdx.x;
        __threadfence_block();
        flag = 1;
    }
}

/* Each warp adds its number to what the warp before has left, lane by lane. One lane waits, and one
   gives the sign, for all. */
__global__ void ring(int *out) {
    __shared__ int value[4][32], ready[4];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (lane == 0) {
        ready[warp] = 0;
    }
    __syncthreads();
    if (warp > 0) {
        if (lane == 0) {
            while (atomicAdd(&ready[warp - 1], 0) == 0) {
            }
            __threadfence_block();
        }
        __syncwarp();
    }
    value[warp][lane] = warp + (warp > 0 ? value[warp - 1][31 - lane] : lane);
    __syncwarp();
    if (lane == 0) {
        __threadfence_block();
        atomicExch(&ready[warp], 1);
    }
    if (warp == 3) {
        out[lane] = value[3][lane];
    }
}

static void expect_steps(const int *result) {
    int from[N], to[N];
    for (int i = 0; i < N; i++) {
        from[i] = i % 7;
    }
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < N; i++) {
            to[i] = from[(i + N - 1) % N] + from[(i + 1) % N];
        }
        memcpy(from, to, sizeof from);
    }
    MUST(memcmp(result, from, sizeof from) == 0);
}

int main(void) {
    int start[N], result[N], *a, *b;
    unsigned *count;
    for (int i = 0; i < N; i++) {
        start[i] = i % 7;
    }
    OK(cudaMalloc(&a, sizeof start));
    OK(cudaMalloc(&b, sizeof start));
    OK(cudaMalloc(&count, sizeof *count));

    OK(cudaMemcpy(a, start, sizeof start, cudaMemcpyHostToDevice));
    by_atomic<<<BLOCKS, THREADS>>>(a, b);
    OK(cudaMemcpy(result, STEPS % 2 ? b : a, sizeof result, cudaMemcpyDeviceToHost));
    expect_steps(result);

    OK(cudaMemset(count, 0, sizeof *count));
    OK(cudaMemcpy(a, start, sizeof start, cudaMemcpyHostToDevice));
    by_volatile<<<BLOCKS, THREADS>>>(a, b, count);
    OK(cudaMemcpy(result, STEPS % 2 ? b : a, sizeof result, cudaMemcpyDeviceToHost));
    expect_steps(result);

    OK(cudaMemset(b, 0, sizeof start));
    chain<<<BLOCKS, 32>>>(a, b);
    OK(cudaMemcpy(result, a, BLOCKS * sizeof *a, cudaMemcpyDeviceToHost));
    MUST(result[0] == BLOCKS * (BLOCKS - 1) / 2 && result[BLOCKS - 1] == BLOCKS - 1);

    warps<<<BLOCKS, THREADS>>>(a);
    OK(cudaMemcpy(result, a, BLOCKS * sizeof *a, cudaMemcpyDeviceToHost));
    for (int i = 0; i < BLOCKS; i++) {
        MUST(result[i] == 7 + i);
    }
    ring<<<1, 128>>>(a);
    OK(cudaMemcpy(result, a, 32 * sizeof *a, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++) {
        MUST(result[i] == 6 + 31 - i);
    }
    OK(cudaFree(a));
    OK(cudaFree(b));
    OK(cudaFree(count));
    return 0;
}
