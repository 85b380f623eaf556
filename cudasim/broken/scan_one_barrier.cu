/* A running sum within shared memory has a barrier after each round, but none between reading the
   old values and writing the new ones: it needs two. */
/* says: a __syncthreads() is missing */
#include "try.cuh"

enum { N = 64 };

static __global__ void scan(float *out, const float *x) {
    __shared__ float s[N];
    int i = threadIdx.x;
    s[i] = x[i];
    for (int d = 1; d < N; d *= 2) {
        __syncthreads();
        float left = i >= d ? s[i - d] : 0;
#ifdef MENDED
        __syncthreads();
#endif
        s[i] += left; /* expect: race */
    }
    out[i] = s[i];
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMalloc(&out, N * sizeof *out));
    TRY(cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice));
    scan<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(host[N - 1], 2016);
}
