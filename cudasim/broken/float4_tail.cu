/* A copy moves four floats at a time, and the number of floats is no multiple of four. */
#include "try.cuh"

enum { N = 30 };

static __global__ void copy(float *out, const float *x, int n) {
    int i = 4 * threadIdx.x;
    if (i >= n) {
        return;
    }
#ifdef MENDED
    if (i + 4 > n) {
        for (; i < n; i++) {
            out[i] = x[i];
        }
        return;
    }
#endif
    float4 four = *(const float4 *)(x + i); /* expect: out-of-bounds access */
    *(float4 *)(out + i) = four;            /* more reports follow */
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMalloc(&out, N * sizeof *out));
    TRY(cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice));
    copy<<<1, (N + 3) / 4>>>(out, x, N);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(host[N - 1], 29);
}
