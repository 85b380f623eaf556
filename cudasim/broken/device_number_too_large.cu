/* Devices are counted from 0 on, and there are two. The status is ignored: all work that was meant
   for the second goes to the first. */
/* says: device 0 is still current */
/* devices: 2 */
#include "try.cuh"

enum { N = 64 };

static __global__ void fill(float *x, float value) {
    x[threadIdx.x] = value;
}

int main(void) {
    float host[N], *x;
#ifdef MENDED
    TRY(cudaSetDevice(1));
#else
    cudaSetDevice(2); /* expect: unchecked error */
#endif
    TRY(cudaMalloc(&x, sizeof host));
    fill<<<1, N>>>(x, 2);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 2 * 2080);
}
