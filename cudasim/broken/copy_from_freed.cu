/* The result is copied after its buffer was freed. On a GPU this fails with "invalid argument", or
   succeeds with what the next owner of the memory wrote. */
#include "try.cuh"

static __global__ void fill(float *x) {
    x[threadIdx.x] = 1;
}

int main(void) {
    float host[32] = {0}, *x;
    TRY(cudaMalloc(&x, sizeof host));
    fill<<<1, 32>>>(x);
    TRY(cudaGetLastError());
#ifdef MENDED
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
#else
    TRY(cudaFree(x));
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost)); /* expect: use after free */
#endif
    return expect(checksum(host, 32), 528);
}
