/* The first warp sets the block's sums to zero while other warps have begun to add to them. */
#include "try.cuh"

enum { N = 128 };

static __global__ void sum(float *out, const float *x) {
    __shared__ float s[4];
    int i = threadIdx.x;
    if (i < 4) {
        s[i] = 0; /* expect: race */
    }
#ifdef MENDED
    __syncthreads();
#endif
    atomicAdd(&s[i % 4], x[i]);
    __syncthreads();
    if (i < 4) {
        out[i] = s[i];
    }
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMalloc(&out, 4 * sizeof *out));
    TRY(cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice));
    sum<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, 4 * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(host[3], 2080);
}
