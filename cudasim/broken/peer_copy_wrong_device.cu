/* The numbers of the devices are swapped in a copy between them. On a GPU an invalid argument. */
/* devices: 2 */
#include "try.cuh"

enum { N = 64 };

static __global__ void fill(float *x, float value) {
    x[threadIdx.x] = value;
}

int main(void) {
    float host[N], *x, *copy;
    TRY(cudaMalloc(&x, sizeof host));
    fill<<<1, N>>>(x, 2);
    TRY(cudaGetLastError());
    TRY(cudaSetDevice(1));
    TRY(cudaMalloc(&copy, sizeof host));
#ifdef MENDED
    TRY(cudaMemcpyPeer(copy, 1, x, 0, sizeof host));
#else
    TRY(cudaMemcpyPeer(copy, 0, x, 1, sizeof host)); /* expect: memory of another device */
#endif
    TRY(cudaMemcpy(host, copy, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaFree(copy));
    return expect(checksum(host, N), 2 * 2080);
}
