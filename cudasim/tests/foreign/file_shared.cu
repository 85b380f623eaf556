/* Shared variables that are declared outside of functions: arrays, numbers, structures, the dynamic
   array; used by kernels and by the functions that they call. */
#include <cuda_runtime.h>

#include "check.cuh"

enum { N = 64 };

typedef struct Range {
    int low, high;
} Range;

__shared__ float tile[N];
static __shared__ Range range;
__shared__ __align__(16) int table[4][N], sum;
extern __shared__ float row[];

namespace other {
__shared__ int tile;

__device__ void set(int value) {
    if (threadIdx.x == 0) {
        tile = value;
    }
    __syncthreads();
}
__device__ int get() {
    return tile;
}
} // namespace other

__device__ float next(int i) {
    return tile[(i + 1) % N];
}

template <class T> __device__ void widen(T value) {
    atomicMin(&range.low, (int)value);
    atomicMax(&range.high, (int)value);
}

struct Adder {
    int scale;
    __device__ void add(int i) const {
        atomicAdd(&sum, scale * i);
    }
};

__global__ void rotate(float *out, const float *x, int *found) {
    int i = threadIdx.x;
    tile[i] = x[i];
    if (i == 0) {
        range.low = N;
        range.high = -1;
        sum = 0;
    }
    __syncthreads();
    out[i] = next(i);
    widen(x[i]);
    Adder{2}.add(i);
    table[i % 4][i] = i;
    __syncthreads();
    if (i == 0) {
        found[0] = range.low;
        found[1] = range.high;
        found[2] = sum;
        found[3] = table[3][7] + (int)(sizeof table / sizeof table[0]);
    }
}

__global__ void reverse(float *out, const float *x, int *found) {
    int i = threadIdx.x, tile = N - 1 - i; /* another thing of that name */
    row[i] = x[i];
    other::set(42 + (int)blockIdx.x);
    out[i] = row[tile];
    if (i == 0) {
        found[0] = other::get();
    }
}

static float host_sum(const float *x) {
    float sum = 0; /* nor is this the shared one */
    for (int i = 0; i < N; i++) {
        sum += x[i];
    }
    return sum;
}

int main() {
    float x[N], *dx, *dout, row = 0;
    int found[4], *dfound;
    for (int i = 0; i < N; i++) {
        x[i] = (float)(3 + 5 * i % N);
    }
    OK(cudaMalloc(&dx, sizeof x));
    OK(cudaMalloc(&dout, sizeof x));
    OK(cudaMalloc(&dfound, sizeof found));
    OK(cudaMemcpy(dx, x, sizeof x, cudaMemcpyHostToDevice));
    rotate<<<1, N>>>(dout, dx, dfound);
    OK(cudaGetLastError());
    float out[N];
    OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(found, dfound, sizeof found, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        MUST(out[i] == x[(i + 1) % N]);
    }
    MUST(found[0] == 3 && found[1] == N + 2 && found[2] == N * (N - 1) && found[3] == 11);
    reverse<<<1, N, N * sizeof(float)>>>(dout, dx, dfound);
    OK(cudaGetLastError());
    OK(cudaMemcpy(out, dout, sizeof out, cudaMemcpyDeviceToHost));
    OK(cudaMemcpy(found, dfound, sizeof found, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        MUST(out[i] == x[N - 1 - i]);
        row += out[i];
    }
    MUST(found[0] == 42 && row == host_sum(x));
    OK(cudaFree(dx));
    OK(cudaFree(dout));
    OK(cudaFree(dfound));
    return 0;
}
