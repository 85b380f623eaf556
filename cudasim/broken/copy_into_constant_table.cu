/* A table of the host is constant, and a copy is to fill it: a cast has taken the const away. A
   real cudaMemcpy crashes, where the table lies in a part of the program that is never written. */
/* says: writes at address */
#include "try.cuh"

#ifdef MENDED
static float table[64] = {1};
#else
static const float table[64] = {1};
#endif

__global__ void fill(float *x) {
    x[threadIdx.x] = (float)threadIdx.x;
}

int main() {
    float *x;
    TRY(cudaMalloc(&x, sizeof table));
    fill<<<1, 64>>>(x);
    TRY(cudaGetLastError());
    /* expect: out-of-bounds access */
    TRY(cudaMemcpy((void *)table, x, sizeof table, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(table, 64), 87360);
}
