/* An array of 160 KB in every thread. A GPU keeps it in slow local memory, reserves that for all
   threads it can hold, and may fail the launch with "out of memory". */
#include "try.cuh"

#ifdef MENDED
enum { N = 400 };
#else
enum { N = 40000 };
#endif

static __global__ void fill(float *x, int n) { /* expect: stack overflow */
    volatile float local[N];
    for (int i = 0; i < n; i++) {
        local[i] = i;
    }
    x[threadIdx.x] = local[n - 1 - threadIdx.x];
}

int main(void) {
    float host[32], *x;
    TRY(cudaMalloc(&x, sizeof host));
    fill<<<1, 32>>>(x, N);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(host[0], N - 1);
}
