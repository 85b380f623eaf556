/* The buffer is freed before the kernel that needs it is launched. On a GPU the memory may already
   belong to the next cudaMalloc, and the kernel overwrites that. */
#include "try.cuh"

static __global__ void scale(float *x) {
    x[threadIdx.x] *= 2;
}

int main(void) {
    float host[32], *x;
    for (int i = 0; i < 32; i++) {
        host[i] = 1;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
#ifdef MENDED
    scale<<<1, 32>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
#else
    TRY(cudaFree(x));
    scale<<<1, 32>>>(x); /* expect: use after free */
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
#endif
    return expect(checksum(host, 32), 1056);
}
