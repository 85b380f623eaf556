/* A block has 128 threads in its third dimension, which has a limit of 64. The launch fails. */
#include "try.cuh"

enum { N = 128 };

static __global__ void count(float *out, const float *x) {
    int i = threadIdx.z + blockDim.z * threadIdx.x;
    out[i] = x[i] + 1;
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMalloc(&out, N * sizeof *out));
    TRY(cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice));
#ifdef MENDED
    dim3 block(N);
#else
    dim3 block(1, 1, N);
#endif
    count<<<1, block>>>(out, x); /* expect: launch failed */
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(host[N - 1], 128);
}
