/* Threads without an element return before the barrier that the others wait at. GPUs before Volta
   hang; later ones wait only for threads that have not left, and for all once the return is an if
   around the work. */
#include "try.cuh"

enum { N = 50, THREADS = 64 };

static __global__ void reverse(float *x) {
    __shared__ float copy[N];
    int i = threadIdx.x;
#ifndef MENDED
    if (i >= N) {
        return;
    }
#endif
    if (i < N) {
        copy[i] = x[i];
    }
    __syncthreads(); /* expect: barrier divergence */
    if (i < N) {
        x[i] = copy[N - 1 - i];
    }
}

int main(void) {
    float host[N], *x;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    reverse<<<1, THREADS>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 20825);
}
