/* A buffer on the device is copied into a constant, but the call does not say that its source is on
   the device. CUDA takes the address for one of the host, and the call fails or worse. */
#include "try.cuh"

enum { N = 4 };

__constant__ float factor[N];

static __global__ void scale(float *x) {
    x[threadIdx.x] *= factor[threadIdx.x];
}

int main(void) {
    float host[N] = {1, 2, 3, 4}, *x;
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
#ifdef MENDED
    TRY(cudaMemcpyToSymbol(factor, x, sizeof host, 0, cudaMemcpyDeviceToDevice));
#else
    TRY(cudaMemcpyToSymbol(factor, x, sizeof host)); /* expect: invalid copy */
#endif
    scale<<<1, N>>>(x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    return expect(checksum(host, N), 100);
}
