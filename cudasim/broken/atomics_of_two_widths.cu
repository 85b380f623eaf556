/* Two threads count in one 8-byte number, one with a 4-byte atomic on its lower half. Atomics of
   different widths are not atomic to each other: on a GPU counts may be lost. */
/* says: the atomics are of 4 and 8 bytes */
#include "try.cuh"

static __global__ void count(unsigned long long *sum) {
    if (threadIdx.x == 0) {
        atomicAdd(sum, 1ull);
    } else {
#ifdef MENDED
        atomicAdd(sum, 1ull);
#else
        atomicAdd((unsigned *)sum, 1u); /* expect: race */
#endif
    }
}

int main(void) {
    unsigned long long host, *sum;
    TRY(cudaMalloc(&sum, sizeof host));
    TRY(cudaMemset(sum, 0, sizeof host));
    count<<<1, 64>>>(sum);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(&host, sum, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(sum));
    return expect((double)host, 64);
}
