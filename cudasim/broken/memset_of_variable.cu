/* A variable of the device is cleared by its name. On the host the name is another variable, which
   the device never sees: the call fails, and what was counted before stays. */
#include "try.cuh"

enum { N = 4 };

__device__ float sum[N];

static __global__ void add(void) {
    sum[threadIdx.x] += threadIdx.x + 1;
}

int main(void) {
    float host[N];
    add<<<1, N>>>();
    TRY(cudaGetLastError());
#ifdef MENDED
    void *address;
    TRY(cudaGetSymbolAddress(&address, sum));
    TRY(cudaMemset(address, 0, sizeof sum));
#else
    TRY(cudaMemset(sum, 0, sizeof sum)); /* expect: invalid copy */
#endif
    add<<<1, N>>>();
    TRY(cudaGetLastError());
    TRY(cudaMemcpyFromSymbol(host, sum, sizeof host));
    return expect(checksum(host, N), 30);
}
