/* Memory for N numbers is asked for as N bytes. */
#include "try.cuh"

enum { N = 64 };

static __global__ void count(float *x) {
    x[threadIdx.x] = threadIdx.x; /* expect: out-of-bounds access */
}

int main(void) {
    float host[N], *x;
#ifdef MENDED
    TRY(cudaMalloc(&x, N * sizeof *x));
#else
    TRY(cudaMalloc(&x, N));
#endif
    /* more reports follow */
    count<<<1, N>>>(x);
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(host, x, N * sizeof *x, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 87360);
}
