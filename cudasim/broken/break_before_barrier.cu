/* A thread that is done leaves the loop, and with it the barrier that the others still wait at. */
#include "try.cuh"

enum { N = 64 };

static __global__ void halve(int *out, const int *x) {
    __shared__ int most;
    int v = x[threadIdx.x];
    for (int round = 0; round < 8; round++) {
        if (threadIdx.x == 0) {
            most = round;
        }
#ifndef MENDED
        if (v == 0) {
            break;
        }
#endif
        v /= 2;
        __syncthreads(); /* expect: barrier divergence */
    }
    out[threadIdx.x] = v + (threadIdx.x == 0 ? most : 0);
}

int main(void) {
    int host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMalloc(&out, N * sizeof *out));
    TRY(cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice));
    halve<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(host[0], 7);
}
