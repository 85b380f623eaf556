/* Memory from cudaMalloc() is to be prefetched: only managed memory moves. */
#include "try.cuh"

enum { N = 64 };

static __global__ void fill(float *x) {
    x[threadIdx.x] = 3;
}

int main(void) {
    float host[N], *x;
#ifdef MENDED
    TRY(cudaMallocManaged(&x, sizeof host));
#else
    TRY(cudaMalloc(&x, sizeof host));
#endif
    TRY(cudaMemPrefetchAsync(x, sizeof host, 0)); /* expect: invalid copy */
    fill<<<1, N>>>(x);
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDefault));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 3 * 2080);
}
