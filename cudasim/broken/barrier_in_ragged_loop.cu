/* A loop with a barrier runs while the thread has elements, and some threads have one fewer. They
   miss the last barrier. */
#include "try.cuh"

enum { N = 80 };

static __global__ void sum(float *out, const float *x) {
    __shared__ float s[32];
    int i = threadIdx.x;
    s[i] = 0;
#ifdef MENDED
    for (int k = 0; k < N; k += 32) {
        float v = k + i < N ? x[k + i] : 0;
#else
    for (int k = i; k < N; k += 32) {
        float v = x[k];
#endif
        s[i] += v;
        __syncthreads(); /* expect: barrier divergence */
    }
    out[i] = s[i];
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMalloc(&out, 32 * sizeof *out));
    TRY(cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice));
    sum<<<1, 32>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, 32 * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(host[0], 96);
}
