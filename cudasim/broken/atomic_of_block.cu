/* Several blocks count in one number by atomicAdd_block(), which is atomic among the threads of one
   block alone. */
/* says: use atomicAdd() for what other blocks change too */
#include "try.cuh"

enum { BLOCKS = 4, N = 64 };

static __global__ void count(int *n) {
#ifdef MENDED
    atomicAdd(n, 1);
#else
    atomicAdd_block(n, 1); /* expect: race */
#endif
}

int main(void) {
    int host, *n;
    TRY(cudaMalloc(&n, sizeof host));
    TRY(cudaMemset(n, 0, sizeof host));
    count<<<BLOCKS, N>>>(n);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(&host, n, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(n));
    return expect(host, BLOCKS * N);
}
