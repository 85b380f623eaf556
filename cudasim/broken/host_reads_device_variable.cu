/* The host prints a __device__ variable as if it were its own. On a GPU it reads another variable
   of that name, which no kernel has ever written. */
/* says: cudaMemcpyFromSymbol() reads the variable */
#include "try.cuh"

enum { N = 64 };

__device__ int counter;

__global__ void count(void) {
    atomicAdd(&counter, 1);
}

int main(void) {
    int result;
    count<<<2, N>>>();
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
#ifdef MENDED
    TRY(cudaMemcpyFromSymbol(&result, counter, sizeof result));
#else
    result = counter; /* expect: host access to device memory */
#endif
    return expect(result, 2 * N);
}
