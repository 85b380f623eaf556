/* A sum begins in a local variable that was never set. On a GPU it begins with whatever the
   register held, often 0, until one day it does not. */
#include "try.cuh"

enum { N = 32 };

static __global__ void sum(float *out, const float *x) {
#ifdef MENDED
    float s = 0;
#else
    float s; /* expect: uninitialized local */
#endif
    for (int i = 0; i < N; i++) {
        s += x[i]; /* expect: uninitialized local */
    }
    out[0] = s;
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMalloc(&out, 1 * sizeof *out));
    TRY(cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice));
    sum<<<1, 1>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, 1 * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(host[0], 496);
}
