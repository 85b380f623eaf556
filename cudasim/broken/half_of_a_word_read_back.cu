/* Two numbers of 2 bytes lie in one word of 4, and two threads each change one of them. A thread
   may read back its own; its neighbour's may not be stored yet. */
#include "try.cuh"

enum { N = 64 };

static __global__ void next(unsigned short *x, unsigned short *seen) {
    int i = threadIdx.x;
    x[i] = (unsigned short)(x[i] + 1);
    seen[i] = 0; /* for all that a compiler knows it is x[i] */
#ifdef MENDED
    seen[i] = x[i];
#else
    seen[i] = x[i ^ 1]; /* expect: race */
#endif
}

int main(void) {
    unsigned short host[N], *x, *seen;
    int sum = 0;
    for (int i = 0; i < N; i++) {
        host[i] = (unsigned short)i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&seen, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    next<<<1, N>>>(x, seen);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, seen, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) {
        sum += host[i];
    }
    return expect(sum, N * (N + 1) / 2);
}
