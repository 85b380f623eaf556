/* All threads compare their value with the largest so far and replace it. Between the comparison
   and the store another thread may have stored a larger one. */
/* says: use an atomic */
#include "try.cuh"

enum { N = 64 };

static __global__ void largest(int *out, const int *x) {
    int v = x[threadIdx.x];
#ifdef MENDED
    atomicMax(out, v);
#else
    out[0] = out[0] < v ? v : out[0]; /* expect: race */
#endif
}

int main(void) {
    int host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMalloc(&out, 1 * sizeof *out));
    TRY(cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice));
    TRY(cudaMemset(out, 0, 1 * sizeof *out));
    largest<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, 1 * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(host[0], 63);
}
