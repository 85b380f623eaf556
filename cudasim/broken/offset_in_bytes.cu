/* The second half of a buffer is reached by an offset in bytes, added to a pointer to float. */
#include "try.cuh"

enum { N = 64 };

static __global__ void count(float *x) {
    x[threadIdx.x] = threadIdx.x; /* expect: out-of-bounds access */
}

int main(void) {
    float host[2 * N], *x;
    TRY(cudaMalloc(&x, sizeof host));
#ifdef MENDED
    float *second = x + N;
#else
    float *second = x + N * sizeof(float);
#endif
    count<<<1, N>>>(x);
    count<<<1, N>>>(second);
    /* more reports follow */
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    return expect(host[2 * N - 1], N - 1);
}
