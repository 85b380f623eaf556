/* The block copies one tile more than there is: the last one is read past the end of the array. */
#include <cuda_pipeline.h>

#include "try.cuh"

enum { N = 128, TILES = 8 };

static __global__ void last_tile(float *out, const float *x) {
    __shared__ float tile[N];
    int i = threadIdx.x;
    float sum = 0;
#ifdef MENDED
    for (int k = 0; k < TILES; k++) {
#else
    for (int k = 0; k <= TILES; k++) {
#endif
        /* expect: out-of-bounds access */
        __pipeline_memcpy_async(&tile[i], &x[k * N + i], sizeof(float));
        __pipeline_commit();
        __pipeline_wait_prior(0);
        sum += tile[i];
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
    last_tile<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaFree(out));
    return expect(checksum(host, N), 35181568);
}
