/* A barrier of a grid by a counter: the first thread of each block signs for its block, and does
   not wait for the other warps of it to have stored. */
/* says: a __syncthreads() before the atomic of the one block */
#include "try.cuh"

enum { BLOCKS = 4, N = 64, ALL = BLOCKS * N };

static __global__ void reverse(float *out, float *x, unsigned *arrived) {
    int i = blockIdx.x * N + threadIdx.x;
    x[i] = i;
    __threadfence();
#ifdef MENDED
    __syncthreads();
#endif
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < gridDim.x) {
        }
    }
    __syncthreads();
    out[i] = x[ALL - 1 - i]; /* expect: race */
}

int main(void) {
    float host[ALL], *out, *x;
    unsigned *arrived;
    TRY(cudaMalloc(&out, sizeof host));
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&arrived, sizeof *arrived));
    TRY(cudaMemset(arrived, 0, sizeof *arrived));
    reverse<<<BLOCKS, N>>>(out, x, arrived);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(arrived));
    TRY(cudaFree(x));
    TRY(cudaFree(out));
    return expect(host[0] + host[ALL - 1], ALL - 1);
}
