/* cudaMemset() is given the number of elements in place of bytes: three quarters stay unwritten. */
#include "try.cuh"

enum { N = 64 };

static __global__ void add(float *sum, float x) {
    sum[threadIdx.x] += x; /* expect: uninitialized device memory */
}

int main(void) {
    float host[N], *sum;
    TRY(cudaMalloc(&sum, sizeof host));
#ifdef MENDED
    TRY(cudaMemset(sum, 0, N * sizeof *sum));
#else
    TRY(cudaMemset(sum, 0, N));
#endif
    add<<<1, N>>>(sum, 2);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, sum, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(sum));
    return expect(checksum(host, N), 2 * 2080);
}
