/* Half of the threads wait at one barrier and half at another. A GPU may count them together, so
   that both halves go on too early, or hang. */
#include "try.cuh"

enum { N = 64 };

static __global__ void swap_halves(float *x) {
    __shared__ float copy[N];
    int i = threadIdx.x;
    if (i < N / 2) {
        copy[i + N / 2] = x[i];
#ifndef MENDED
        __syncthreads();
#endif
    } else {
        copy[i - N / 2] = x[i];
#ifndef MENDED
        __syncthreads(); /* expect: barrier divergence */
#endif
    }
#ifdef MENDED
    __syncthreads();
#endif
    x[i] = copy[i];
}

int main(void) {
    float host[N], *x;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    swap_halves<<<1, N>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 54592);
}
