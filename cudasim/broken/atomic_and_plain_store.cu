/* Block 0 sets the sum to zero while other blocks already add to it. On a GPU the additions of fast
   blocks are wiped out. */
#include "try.cuh"

static __global__ void count(int *sum) {
#ifndef MENDED
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *sum = 0;
    }
    __syncthreads();
#endif
    atomicAdd(sum, 1); /* expect: race */
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
