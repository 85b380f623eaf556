/* The next tile is copied into the buffer that other threads are still reading: a barrier is
   missing at the end of the loop. */
#include <cuda_pipeline.h>

#include "try.cuh"

enum { N = 128, TILES = 3 };

static __global__ void sum_tiles(float *out, const float *x) {
    __shared__ float tile[N];
    int i = threadIdx.x;
    float sum = 0;
    for (int k = 0; k < TILES; k++) {
        __pipeline_memcpy_async(&tile[i], &x[k * N + i], sizeof(float));
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        sum += tile[N - 1 - i]; /* expect: race */
#ifdef MENDED
        __syncthreads();
#endif
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
