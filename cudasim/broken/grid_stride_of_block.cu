/* A loop over all elements goes on by the size of a block, not of the grid. The blocks repeat each
   other's work, and add twice. */
/* says: use an atomic */
#include "try.cuh"

enum { N = 256 };

static __global__ void add(float *out, const float *x) {
#ifdef MENDED
    int stride = gridDim.x * blockDim.x;
#else
    int stride = blockDim.x;
#endif
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < N; i += stride) {
        out[i] += x[i]; /* expect: race */
    }
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = i;
    }
    TRY(cudaMalloc(&x, N * sizeof *x));
    TRY(cudaMalloc(&out, N * sizeof *out));
    TRY(cudaMemcpy(x, host, N * sizeof *x, cudaMemcpyHostToDevice));
    TRY(cudaMemset(out, 0, N * sizeof *out));
    add<<<2, 64>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(host[N - 1], 255);
}
