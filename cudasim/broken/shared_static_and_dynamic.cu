/* A kernel has 40 KiB of shared variables, and the launch asks for 16 KiB more. Each part is below
   48 KiB, but their sum is not: on a GPU the launch fails, and nothing is computed. */
/* says: 40960 bytes in __shared__ variables and 16384 that the launch asks for */
#include "try.cuh"

enum { N = 64, COUNT = 10240 };

static __global__ void add(float *out, const float *x) {
    __shared__ float table[COUNT];
    extern __shared__ float row[];
    int i = threadIdx.x;
    table[i] = x[i];
    row[i] = 2 * x[i];
    __syncthreads();
    out[i] = table[i] + row[N - 1 - i];
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
    size_t bytes = N * sizeof(float);
#else
    size_t bytes = 16 << 10;
#endif
    add<<<1, N, bytes>>>(out, x); /* expect: launch failed */
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 174720);
}
