/* The buffer was taken while device 0 was current, the kernel runs on device 1. On a GPU that is an
   illegal address; with peer access it works. */
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
#endif
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaSetDevice(1));
    fill<<<1, N>>>(x, 2); /* expect: memory of another device */
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 2 * 2080);
}
