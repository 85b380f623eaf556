/* The kernel adds to a sum that nobody set to zero. On a GPU the first run is often right, since
   fresh memory is often zero, and the second one is not. */
#include "try.cuh"

static __global__ void count(int *sum) {
    atomicAdd(sum, 1); /* expect: uninitialized device memory */
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
