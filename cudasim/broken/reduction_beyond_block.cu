/* A tree reduction halves a block of 48 threads by powers of two: the first round reads beyond the
   array. */
#include "try.cuh"

enum { N = 48 };

static __global__ void sum(float *out, const float *x) {
    __shared__ float s[N];
    int i = threadIdx.x;
    s[i] = x[i];
    for (int d = 32; d > 0; d /= 2) {
        __syncthreads();
#ifdef MENDED
        if (i < d && i + d < N) {
#else
        if (i < d) {
#endif
            s[i] += s[i + d]; /* expect: out-of-bounds access */
        }
    }
    if (i == 0) {
        out[0] = s[0];
    }
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMalloc(&out, 1 * sizeof *out));
    TRY(cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice));
    sum<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, 1 * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(host[0], 1128);
}
