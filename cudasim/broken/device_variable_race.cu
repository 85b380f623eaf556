/* A global __device__ counter is incremented without an atomic. On a GPU it ends far below the
   number of threads. */
#include "try.cuh"

static __device__ int counter;

static __global__ void count(void) {
#ifdef MENDED
    atomicAdd(&counter, 1);
#else
    counter++; /* expect: race */
#endif
}

int main(void) {
    int host = 0;
    TRY(cudaMemcpyToSymbol(counter, &host, sizeof host));
    count<<<4, 64>>>();
    TRY(cudaGetLastError());
    TRY(cudaMemcpyFromSymbol(&host, counter, sizeof host));
    return expect(host, 256);
}
