/* Two tiles in turn: while one is used, the next is under way, and all but one batch is waited
   for. At the last tile no batch is behind it, so all must be waited for. */
#include <cuda_pipeline.h>

#include "try.cuh"

enum { N = 128, TILES = 3 };

static __global__ void sum_tiles(float *out, const float *x) {
    __shared__ float tile[2][N];
    int i = threadIdx.x;
    float sum = 0;
    __pipeline_memcpy_async(&tile[0][i], &x[i], sizeof(float));
    __pipeline_commit();
    for (int k = 0; k < TILES; k++) {
        if (k + 1 < TILES) {
            __pipeline_memcpy_async(&tile[(k + 1) % 2][i], &x[(k + 1) * N + i], sizeof(float));
            __pipeline_commit();
        }
#ifdef MENDED
        __pipeline_wait_prior(k + 1 < TILES ? 1 : 0);
#else
        __pipeline_wait_prior(1);
#endif
        __syncthreads();
        sum += tile[k % 2][N - 1 - i]; /* expect: pending copy */
        __syncthreads();
    }
    out[i] = sum;
}

int main(void) {
    float host[TILES * N], *x, *out;
    for (int i = 0; i < TILES * N; i++) {
        host[i] = (float)i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&out, N * sizeof *out));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    TRY(cudaMemset(out, 0, N * sizeof *out));
    sum_tiles<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaFree(out));
    return expect(checksum(host, N), 4218816);
}
