/* A thread keeps its best values in a small local array, and the loop runs one too far. */
#include "try.cuh"

enum { N = 64 };

struct Best {
    float value[4];
    int place[4];
};

static __global__ void best(float *out, const float *x, int n) {
    struct Best top = {};
    for (int k = 0; k < n; k++) {
        top.value[k] = x[threadIdx.x + k]; /* expect: out-of-bounds access */
    }
    out[threadIdx.x] = top.value[0] + top.value[3] + (float)top.place[0];
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMalloc(&out, 32 * sizeof *out));
    TRY(cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice));
#ifdef MENDED
    int n = 4;
#else
    int n = 5;
#endif
    best<<<1, 32>>>(out, x, n); /* more reports follow */
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, 32 * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(host[0], 3);
}
