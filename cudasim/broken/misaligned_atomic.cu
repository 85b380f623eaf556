/* An atomic on an int that begins in the middle of one. A GPU ends the kernel with "misaligned
   address"; an x86 processor does it all the same, so that only check mode sees it. */
#include "try.cuh"

enum { N = 64 };

#ifdef MENDED
enum { HEAD = 4 };
#else
enum { HEAD = 2 }; /* bytes before the counter */
#endif

static __global__ void count(char *record) {
    atomicAdd((int *)(record + HEAD), 1); /* expect: misaligned access */
}

int main(void) {
    char *record;
    int host = 0;
    TRY(cudaMalloc(&record, 16));
    TRY(cudaMemset(record, 0, 16));
    count<<<1, N>>>(record);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(&host, record + HEAD, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(record));
    return expect(host, N);
}
