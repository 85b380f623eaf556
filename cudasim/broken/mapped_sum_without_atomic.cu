/* All threads add to one number in mapped memory of the host, without an atomic. On a GPU most
   additions are lost. */
/* says: use an atomic */
#include "try.cuh"

enum { N = 64 };

static __global__ void count(int *sum) {
#ifdef MENDED
    atomicAdd(sum, 1);
#else
    *sum += 1; /* expect: race */
#endif
}

int main(void) {
    int *sum;
    TRY(cudaMallocHost(&sum, sizeof *sum));
    *sum = 0;
    count<<<1, N>>>(sum);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    int result = *sum;
    TRY(cudaFreeHost(sum));
    return expect(result, N);
}
