/* Accesses of which the distinct 32-byte sectors are known: record_test.py has the numbers. */
#include <cuda_pipeline.h>

#include "foreign/check.cuh"

enum { N = 1 << 12, THREADS = 128 };

typedef struct Rows {
    float of[64];
} Rows;

static __device__ int index() {
    return blockIdx.x * blockDim.x + threadIdx.x;
}

/* All warps of all blocks. */
static __global__ void all(float *out, const float *in) {
    out[index()] = in[index()];
}

/* Each number is read by all threads, and counted once. */
static __global__ void again(float *out, const float *in) {
    float sum = 0;
    for (int i = 0; i < THREADS; i++) {
        sum += in[i];
    }
    out[index()] = sum;
}

/* 32 floats that begin in the middle of a sector lie in 5 of them. */
static __global__ void between(float *out, const float *in) {
    out[threadIdx.x + 4] = in[threadIdx.x + 4];
}

static __global__ void wide(float4 *out, const float4 *in) {
    out[index()] = in[index()];
}

/* Reads what it adds to, and writes it. */
static __global__ void adds(float *out) {
    out[index()] += 1;
}

/* One sector, by all threads. */
static __global__ void atomics(int *count) {
    atomicAdd(count, 1);
}

static __global__ void structs(Rows *out, const Rows *in) {
    *out = *in;
}

static __global__ void sets(char *out) {
    memset(out + threadIdx.x * 32, 0, 32);
}

static __global__ void volatiles(volatile float *out, const volatile float *in) {
    out[threadIdx.x] = in[threadIdx.x];
}

/* By an asynchronous copy to shared memory, which does not count. */
static __global__ void staged(float *out, const float *in) {
    __shared__ float tile[THREADS];
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof *tile);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[threadIdx.x] = tile[THREADS - 1 - threadIdx.x];
}

/* Nothing at all of the device's memory. */
static __global__ void local(int n) {
    __shared__ int sum;
    if (threadIdx.x == 0) {
        sum = 0;
    }
    __syncthreads();
    atomicAdd(&sum, n);
}

int main(void) {
    static char host[N];
    float *x, *y;
    int *count;
    OK(cudaMalloc(&x, (N + 4) * sizeof *x)); /* no multiple of a sector: it begins with one */
    OK(cudaMalloc(&y, N * sizeof *y));
    OK(cudaMalloc(&count, sizeof *count));
    OK(cudaMemset(x, 0, N * sizeof *x));
    OK(cudaMemset(count, 0, sizeof *count));
    all<<<N / THREADS, THREADS>>>(y, x);
    again<<<1, THREADS>>>(y, x);
    between<<<1, 32>>>(y, x);
    wide<<<N / 4 / THREADS, THREADS>>>((float4 *)y, (const float4 *)x);
    adds<<<N / THREADS, THREADS>>>(y);
    atomics<<<4, THREADS>>>(count);
    structs<<<1, 1>>>((Rows *)y, (const Rows *)x);
    sets<<<1, 32>>>((char *)y);
    volatiles<<<1, 32>>>(y, x);
    staged<<<1, THREADS>>>(y, x);
    local<<<1, 32>>>(1);
    OK(cudaMemcpy(y, x, N, cudaMemcpyDeviceToDevice));
    OK(cudaMemset(y, 0, N));
    OK(cudaMemcpy(host, x, N, cudaMemcpyDeviceToHost));
    OK(cudaDeviceSynchronize());
    return 0;
}
