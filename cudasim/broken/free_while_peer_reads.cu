/* cudaFree() waits for the device that has the memory. A kernel of another device, which reads it
   by peer access, may still run. */
/* devices: 2 */
#include "try.cuh"

enum { N = 64 };

static __global__ void add(float *to, const float *from) {
    to[threadIdx.x] += from[threadIdx.x];
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
    TRY(cudaFree(theirs)); /* expect: stream race */
    TRY(cudaMemcpy(host, mine, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(mine));
    return expect(checksum(host, N), 0);
}
