/* A thread takes memory in the kernel and writes one element too many. */
#include "try.cuh"

static __global__ void sum(float *out, int n) {
    float *x = (float *)malloc(n * sizeof *x);
    if (x == NULL) {
        return;
    }
#ifdef MENDED
    for (int i = 0; i < n; i++) {
#else
    for (int i = 0; i <= n; i++) {
#endif
        x[i] = i; /* expect: out-of-bounds access */
    }
    float all = 0;
    for (int i = 0; i < n; i++) {
        all += x[i];
    }
    free(x);
    out[threadIdx.x] = all;
}

int main(void) {
    float host[32], *out;
    TRY(cudaMalloc(&out, sizeof host));
    sum<<<1, 32>>>(out, 12);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    return expect(host[31], 66);
}
