/* The two numbers of a launch are swapped: the block gets as many threads as there should be
   blocks, 4096. */
#include "try.cuh"

enum { N = 1 << 18, BLOCKS = 4096 };

static __global__ void count(float *out, const float *x) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = x[i] + 1;
}

int main(void) {
    float *host = (float *)calloc(N, sizeof *host), *x, *out;
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMalloc(&out, N * sizeof *out));
    TRY(cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice));
#ifdef MENDED
    count<<<BLOCKS, N / BLOCKS>>>(out, x);
#else
    count<<<N / BLOCKS, BLOCKS>>>(out, x); /* expect: launch failed */
#endif
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *x, cudaMemcpyDeviceToHost));
    float last = host[N - 1];
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    free(host);
    return expect(last, 1);
}
