/* A buffer is moved by one place within itself with cudaMemcpy, as memmove() could do it. The
   ranges overlap, and on a GPU the result is undefined. */
#include "try.cuh"

static __global__ void count(float *x) {
    x[threadIdx.x] = threadIdx.x;
}

int main(void) {
    enum { N = 64 };
    float host[N], *x, *between;
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&between, sizeof host));
    count<<<1, N>>>(x);
    TRY(cudaGetLastError());
#ifdef MENDED
    TRY(cudaMemcpy(between, x, (N - 1) * sizeof *x, cudaMemcpyDeviceToDevice));
    TRY(cudaMemcpy(x + 1, between, (N - 1) * sizeof *x, cudaMemcpyDeviceToDevice));
#else
    cudaMemcpy(x + 1, x, (N - 1) * sizeof *x, cudaMemcpyDeviceToDevice); /* expect: invalid copy */
#endif
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(between));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 85281);
}
