/* Kernels that measure: what a clock says is stored, compared, waited for, and chooses the way. */
#include <cuda_runtime.h>

#include "check.cuh"

enum { N = 64 };

static __global__ void stamp(long long *at) {
    at[threadIdx.x] = clock64();
}

static __global__ void stamp_ptx(unsigned long long *at, unsigned *low) {
    unsigned long long ns;
    unsigned ticks;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    asm volatile("mov.u32 %0, %%clock;" : "=r"(ticks));
    at[threadIdx.x] = ns;
    low[threadIdx.x] = ticks;
}

static __global__ void stamp_c(clock_t *at) {
    at[threadIdx.x] = clock();
}

/* The usual pause of a program that shows whether streams overlap. */
static __global__ void pause_for(long long ticks, long long *took) {
    long long begin = clock64(), now = begin;
    while (now - begin < ticks) {
        now = clock64();
    }
    *took = now - begin;
}

/* Where a thread stores depends on the time. */
static __global__ void scatter(int *count) {
    unsigned long long now = (unsigned long long)clock64();
    atomicAdd(&count[(now >> 4) % N], 1);
}

static void measure(long long *x) {
    long long host[N];
    stamp<<<1, N>>>(x);
    OK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        MUST(host[i] != 0);
    }
    stamp_c<<<1, N>>>((clock_t *)x);
    pause_for<<<1, 1>>>(2000, x);
    OK(cudaMemcpy(host, x, sizeof host[0], cudaMemcpyDeviceToHost));
    MUST(host[0] >= 2000);
}

static void measure_ptx(long long *x, unsigned *low) {
    stamp_ptx<<<1, N>>>((unsigned long long *)x, low);
    OK(cudaDeviceSynchronize());
}

static void count(int *x) {
    int host[N], all = 0;
    OK(cudaMemset(x, 0, sizeof host));
    scatter<<<2, N>>>(x);
    OK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        all += host[i];
    }
    MUST(all == 2 * N);
}

int main() {
    long long *x;
    unsigned *low;
    OK(cudaMalloc(&x, N * sizeof *x));
    OK(cudaMalloc(&low, N * sizeof *low));
    measure(x);
    measure_ptx(x, low);
    count((int *)low);
    OK(cudaFree(x));
    OK(cudaFree(low));
    return 0;
}
