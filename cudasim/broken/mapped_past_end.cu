/* The kernel writes each number's right neighbour in mapped memory of the host: the last one lies
   past its end. On a GPU that often goes unseen. */
#include "try.cuh"

enum { N = 64 };

static __global__ void fill(float *x, int n) {
    int i = (int)threadIdx.x + 1;
#ifdef MENDED
    if (i < n) {
#else
    if (i <= n) {
#endif
        x[i] = i; /* expect: out-of-bounds access */
    }
}

int main(void) {
    float *host, *mapped;
    TRY(cudaHostAlloc(&host, N * sizeof *host, cudaHostAllocMapped));
    TRY(cudaHostGetDevicePointer(&mapped, host, 0));
    host[0] = 0;
    fill<<<1, N>>>(mapped, N);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    double sum = checksum(host, N);
    TRY(cudaFreeHost(host));
    return expect(sum, 87360);
}
