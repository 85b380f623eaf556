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
    puts("good");
}
