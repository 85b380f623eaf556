/* A record of packed bytes has its counter two bytes after the begin. An atomic needs an address
   that is a multiple of its size; a GPU stops. */
#include "try.cuh"

#ifdef MENDED
enum { COUNTER = 4 };
#else
enum { COUNTER = 2 };
#endif

static __global__ void count(char *record) {
    atomicAdd((int *)(void *)(record + COUNTER), 1); /* expect: misaligned access */
}

int main(void) {
    char *record;
    int sum;
    TRY(cudaMalloc(&record, 64));
    TRY(cudaMemset(record, 0, 64));
    count<<<2, 32>>>(record);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(&sum, record + COUNTER, sizeof sum, cudaMemcpyDeviceToHost));
    TRY(cudaFree(record));
    return expect(sum, 64);
}
