/* The halo of the tile is never filled, yet the stencil reads it. On a GPU the first and the last
   element of each block are made from left-overs of other blocks. */
#include "try.cuh"

enum { N = 64 };

static __global__ void smooth(float *out, const float *x) {
    __shared__ float tile[N + 2];
    int i = threadIdx.x;
    tile[i + 1] = x[i];
#ifdef MENDED
    if (i == 0) {
        tile[0] = tile[N + 1] = 0;
    }
#endif
    __syncthreads();
    float left = tile[i]; /* expect: uninitialized shared memory */
    out[i] = left + tile[i + 1];
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = 1;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&out, sizeof host));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    smooth<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(out));
    TRY(cudaFree(x));
    return expect(checksum(host, N), 4159);
}
