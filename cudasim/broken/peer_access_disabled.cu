/* Peer access is disabled while a kernel that needs it may still run. */
/* says: peer access was disabled at */
/* devices: 2 */
#include "try.cuh"

enum { N = 64 };

static __global__ void add(float *to, const float *from) {
    to[threadIdx.x] += from[threadIdx.x]; /* expect: memory of another device */
}

int main(void) {
    float host[N], *mine, *theirs;
    TRY(cudaSetDevice(1));
    TRY(cudaMalloc(&theirs, sizeof host));
    TRY(cudaMemset(theirs, 0, sizeof host));
    TRY(cudaDeviceSynchronize());
    TRY(cudaSetDevice(0));
    TRY(cudaDeviceEnablePeerAccess(1, 0));
    TRY(cudaMalloc(&mine, sizeof host));
    TRY(cudaMemset(mine, 0, sizeof host));
    add<<<1, N>>>(mine, theirs);
    TRY(cudaGetLastError());
#ifdef MENDED
    TRY(cudaDeviceSynchronize());
#endif
    TRY(cudaDeviceDisablePeerAccess(1));
    TRY(cudaMemcpy(host, mine, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(mine));
    TRY(cudaFree(theirs));
    return expect(checksum(host, N), 0);
}
