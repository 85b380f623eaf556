/* The index leaves out blockIdx, so every block writes the same elements. On a GPU the last block
   to finish wins. */
#include "try.cuh"

enum { THREADS = 32, BLOCKS = 4, N = THREADS * BLOCKS };

static __global__ void number(float *x) {
#ifdef MENDED
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#else
    int i = threadIdx.x;
#endif
    x[i] = 100 * blockIdx.x + threadIdx.x; /* expect: race */
}

int main(void) {
    float host[N], *x;
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemset(x, 0, sizeof host));
    number<<<BLOCKS, THREADS>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 1889280);
}
