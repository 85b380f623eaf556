/* The compiler shall leave one function alone, so nothing is known of its reads: whether they stay
   in bounds, and whether anybody has written those bytes. */
#include "try.cuh"

#define N 256

#ifndef MENDED
#define LEFT_ALONE __attribute__((noinline, no_sanitize("thread")))
#else
#define LEFT_ALONE
#endif

static __device__ LEFT_ALONE float neighbour(const float *x, int i) {
    return x[(i + 1) % N];
}

static __global__ void shift(float *y, const float *x) {
    y[threadIdx.x] = neighbour(x, threadIdx.x);
}

int main(void) {
    float host[N], *x, *y;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&y, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    shift<<<1, N>>>(y, x); /* expect: unseen read */
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaFree(y));
    return expect(host[N - 1], 0);
}
