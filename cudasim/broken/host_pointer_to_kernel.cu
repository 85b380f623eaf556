/* The kernel is given the host array. On a GPU it dies with "an illegal memory access". */
#include "try.cuh"

static __global__ void scale(float *x, float by) {
    x[threadIdx.x] *= by;
}

int main(void) {
    float host[32], *x;
    for (int i = 0; i < 32; i++) {
        host[i] = 1;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
#ifdef MENDED
    scale<<<1, 32>>>(x, 2);
#else
    scale<<<1, 32>>>(host, 2); /* expect: host pointer passed to a kernel */
#endif
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, 32), 1056);
}
