/* A kernel is defined, its output allocated and copied back; the launch was forgotten. */
#include "try.cuh"

enum { N = 64 };

static __global__ void count(float *x) {
    x[threadIdx.x] = threadIdx.x;
}

int main(void) {
    float host[N], *x;
    void (*kernel)(float *) = count;
    TRY(cudaMalloc(&x, sizeof host));
#ifdef MENDED
    count<<<1, N>>>(x);
    TRY(cudaGetLastError());
#endif
    /* expect: uninitialized device memory */
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(kernel != NULL ? checksum(host, N) : 0, 87360);
}
