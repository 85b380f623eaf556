/* A loop counts an unsigned number down to 0 and waits for it to become negative. After 0 comes
   4294967295. */
#include "try.cuh"

enum { N = 64 };

static __global__ void last(float *out, const float *x) {
#ifdef MENDED
    for (int i = N - 1; i >= 0; i--) {
#else
    const unsigned end = 0;
    for (unsigned i = N - 1; i >= end; i--) {
#endif
        out[i] = 2 * x[i]; /* expect: out-of-bounds access */
    }
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMalloc(&out, N * sizeof *out));
    TRY(cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice));
    last<<<1, 1>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(host[N - 1], 126);
}
