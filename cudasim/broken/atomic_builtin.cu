/* The atomics of C are seen as those of CUDA are. Here one adds to a counter that nobody has set to
   zero. */
#include "try.cuh"

static __global__ void count(int *sum) {
    __atomic_fetch_add(sum, 1, __ATOMIC_RELAXED); /* expect: uninitialized device memory */
}

int main(void) {
    int host, *sum;
    TRY(cudaMalloc(&sum, sizeof host));
#ifdef MENDED
    TRY(cudaMemset(sum, 0, sizeof host));
#endif
    count<<<4, 64>>>(sum);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(&host, sum, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(sum));
    return expect(host, 256);
}
