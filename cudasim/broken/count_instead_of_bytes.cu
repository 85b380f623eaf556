/* cudaMemcpy is told the number of elements, not of bytes, so a quarter of the input arrives. On a
   GPU the rest is whatever was there. */
#include "try.cuh"

static __global__ void scale(float *out, const float *x, int n) {
    int i = threadIdx.x;
    if (i < n) {
        out[i] = 2 * x[i]; /* expect: uninitialized device memory */
    }
}

int main(void) {
    enum { N = 64 };
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = 1;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&out, sizeof host));
#ifdef MENDED
    TRY(cudaMemcpy(x, host, N * sizeof(float), cudaMemcpyHostToDevice));
#else
    TRY(cudaMemcpy(x, host, N, cudaMemcpyHostToDevice));
#endif
    scale<<<1, N>>>(out, x, N);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 4160);
}
