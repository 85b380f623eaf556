/* The result goes to the host, but the direction says to the device. On a GPU the copy fails with
   "invalid argument". */
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
#else
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyHostToDevice)); /* expect: invalid copy */
#endif
    TRY(cudaFree(x));
    return expect(checksum(host, 32), 528);
}
