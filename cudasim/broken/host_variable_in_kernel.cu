/* A kernel names a variable that no word gives to the device. nvcc refuses it; to a compiler for
   the host it is any variable, and holds here what the host has stored. */
/* says: factor, a variable of the host */
#include "try.cuh"

#ifdef MENDED
static __constant__ float factor;
#else
static float factor;
#endif

static __global__ void fill(float *x) {
    x[threadIdx.x] = factor * threadIdx.x; /* expect: host memory in a kernel */
}

int main(void) {
    float host[32] = {0}, *x, two = 2;
    TRY(cudaMalloc(&x, sizeof host));
#ifdef MENDED
    TRY(cudaMemcpyToSymbol(factor, &two, sizeof two));
#else
    factor = two;
#endif
    fill<<<1, 32>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, 32), 21824);
}
