/* Threads count in one number with an atomic and look at it with a plain read. */
/* says: one of the two is not atomic */
#include "try.cuh"

enum { N = 64 };

static __global__ void count(int *out, int *n) {
    atomicAdd(n, 1);
#ifdef MENDED
    int seen = atomicAdd(n, 0);
#else
    int seen = *n; /* expect: race */
#endif
    atomicMax(out, seen);
}

int main(void) {
    int host, *n, *out;
    TRY(cudaMalloc(&n, sizeof host));
    TRY(cudaMalloc(&out, sizeof host));
    TRY(cudaMemset(n, 0, sizeof host));
    TRY(cudaMemset(out, 0, sizeof host));
    count<<<2, N>>>(out, n);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(&host, n, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(n));
    return expect(host, 2 * N);
}
