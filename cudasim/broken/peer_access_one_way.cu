/* Peer access has a direction: here device 1 may use memory of device 0, and the kernel runs on
   device 0. On a GPU that is an illegal address. */
/* devices: 2 */
#include "try.cuh"

enum { N = 64 };

static __global__ void add(float *to, const float *from) {
    to[threadIdx.x] += from[threadIdx.x];
}

int main(void) {
    float host[N], *mine, *theirs;
    TRY(cudaMalloc(&mine, sizeof host));
    TRY(cudaMemset(mine, 0, sizeof host));
    TRY(cudaDeviceSynchronize());
    TRY(cudaSetDevice(1));
    TRY(cudaMalloc(&theirs, sizeof host));
    TRY(cudaMemset(theirs, 0, sizeof host));
    TRY(cudaDeviceSynchronize());
#ifdef MENDED
    TRY(cudaSetDevice(0));
    TRY(cudaDeviceEnablePeerAccess(1, 0));
#else
    TRY(cudaDeviceEnablePeerAccess(0, 0));
    TRY(cudaSetDevice(0));
#endif
    add<<<1, N>>>(mine, theirs); /* expect: memory of another device */
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, mine, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(mine));
    TRY(cudaFree(theirs));
    return expect(checksum(host, N), 0);
}
