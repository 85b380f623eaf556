/* __device__ and __constant__ variables, of which each device has a copy. devices: 3 */
#include <cuda_runtime.h>

#include "check.cuh"

enum { N = 64, DEVICES = 3 };

__device__ int count = 5;
static __device__ float table[N], scale = 2;
__constant__ int offset[2] = {1, 2};
static const __device__ int primes[] = {2, 3, 5};

namespace inner {
__device__ unsigned *list;
}

static __global__ void step(int by) {
    int i = (int)threadIdx.x;
    table[i] += scale * (float)i + (float)offset[1];
    if (i == 0) {
        count += by * primes[1];
        inner::list = (unsigned *)table;
    }
}

static __global__ void take(int *to, const int *from) {
    to[threadIdx.x] = from[threadIdx.x];
}

/* The address of a variable is device memory: for copies, fills and kernels. */
static void by_address(void) {
    float *t, host[N];
    int *o, *copy, offsets[2] = {30, 40};
    size_t bytes;
    OK(cudaGetSymbolAddress((void **)&t, table));
    OK(cudaGetSymbolAddress((void **)&o, offset));
    OK(cudaGetSymbolSize(&bytes, table));
    MUST(bytes == sizeof host);
    OK(cudaMalloc(&copy, sizeof offsets));
    OK(cudaMemset(t, 0, bytes));
    OK(cudaMemcpy(o, offsets, sizeof offsets, cudaMemcpyHostToDevice));
    take<<<1, 2>>>(copy, o);
    take<<<1, 2>>>((int *)t, copy);
    OK(cudaGetLastError());
    OK(cudaMemcpy(copy, t, sizeof offsets, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpy(offsets, copy, sizeof offsets, cudaMemcpyDefault));
    MUST(offsets[0] == 30 && offsets[1] == 40);
    OK(cudaMemcpy2D(host, 8, t + 2, 8, 8, N / 2 - 1, cudaMemcpyDeviceToHost));
    MUST(host[0] == 0 && host[N - 3] == 0);
    cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, t));
    MUST(attributes.type == cudaMemoryTypeDevice && attributes.device == 0);
    OK(cudaMemcpyFromSymbol(copy, offset, sizeof offsets, 0, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpyToSymbol(count, copy + 1, 4, 0, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpyFromSymbol(offsets, count, 4));
    MUST(offsets[0] == 40);
    OK(cudaFree(copy));
}

static int count_now(void) {
    int value;
    OK(cudaMemcpyFromSymbol(&value, count, sizeof value));
    return value;
}

int main() {
    float host[N];
    int offsets[2] = {0, 7}, first = 100;
    OK(cudaSetDevice(1));
    OK(cudaMemcpyToSymbol(offset, offsets, sizeof offsets));
    OK(cudaSetDevice(2));
    OK(cudaMemcpyToSymbol(count, &first, sizeof first));
    for (int d = 0; d < DEVICES; d++) {
        OK(cudaSetDevice(d));
        for (int k = 0; k <= d; k++) {
            step<<<1, N>>>(d + 1);
        }
        OK(cudaGetLastError());
    }
    /* All are queued: each device comes back to its own. */
    for (int d = 0; d < DEVICES; d++) {
        OK(cudaSetDevice(d));
        MUST(count_now() == (d == 2 ? 100 : 5) + 3 * (d + 1) * (d + 1));
        OK(cudaMemcpyFromSymbol(host, table, sizeof host));
        MUST(host[N - 1] == (float)(d + 1) * (2 * (N - 1) + (d == 1 ? 7 : 2)));
    }
    OK(cudaSetDevice(2));
    OK(cudaDeviceReset());
    MUST(count_now() == 5);
    OK(cudaSetDevice(0));
    MUST(count_now() == 8);
    by_address();
    puts("good");
}
