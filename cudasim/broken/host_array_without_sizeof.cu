/* The host's array has as many bytes as it should have floats: malloc() was not told of their size.
   The copy back goes on into what lies after it, and some later free() ends the program. */
#include "try.cuh"

enum { N = 64 };

static __global__ void fill(float *x) {
    x[threadIdx.x] = 2;
}

int main(void) {
    float *x;
#ifdef MENDED
    float *host = (float *)malloc(N * sizeof *host);
#else
    float *host = (float *)malloc(N);
#endif
    TRY(cudaMalloc(&x, N * sizeof *x));
    fill<<<1, N>>>(x);
    TRY(cudaGetLastError());
    /* expect: out-of-bounds access */
    (void)cudaMemcpy(host, x, N * sizeof *x, cudaMemcpyDeviceToHost);
    double got = host[3];
    TRY(cudaFree(x));
    free(host);
    return expect(got, 2);
}
