/* The hardware copies 4, 8 or 16 bytes. Two bytes at a time it cannot. */
#include <cuda_pipeline.h>

#include "try.cuh"

enum { N = 128 };

static __global__ void halves(float *out, const float *x) {
    __shared__ __align__(16) short row[2 * N];
    int i = threadIdx.x;
    const short *from = (const short *)x;
#ifdef MENDED
    __pipeline_memcpy_async(&row[2 * i], &from[2 * i], 4);
#else
    __pipeline_memcpy_async(&row[2 * i], &from[2 * i], 2); /* expect: invalid copy */
    __pipeline_memcpy_async(&row[2 * i + 1], &from[2 * i + 1], 2);
#endif
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[i] = (float)row[2 * i];
}

int main(void) {
    float host[N], *x, *out;
    for (int i = 0; i < N; i++) {
        host[i] = (float)i;
    }
    TRY(cudaMalloc(&x, sizeof host));
    TRY(cudaMalloc(&out, N * sizeof *out));
    TRY(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    TRY(cudaMemset(out, 0, N * sizeof *out));
    halves<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaFree(out));
    return expect(checksum(host, N), 0);
}
