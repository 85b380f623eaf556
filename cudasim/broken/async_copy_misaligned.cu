/* Four floats are copied at once, from an address that is not a multiple of 16 bytes. */
#include <cuda_pipeline.h>

#include "try.cuh"

enum { N = 128 };

static __global__ void shifted(float *out, const float *x) {
    __shared__ __align__(16) float row[N];
    int i = threadIdx.x;
#ifdef MENDED
    if (i < N / 4) {
        __pipeline_memcpy_async(&row[4 * i], &x[4 * i], 4 * sizeof(float));
    }
    int shift = 1;
#else
    if (i < N / 4) {
        /* expect: misaligned access */
        __pipeline_memcpy_async(&row[4 * i], &x[4 * i + 1], 4 * sizeof(float));
    }
    int shift = 0;
#endif
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[i] = i + shift < N ? row[i + shift] : 0;
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
    shifted<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaFree(out));
    return expect(checksum(host, N), 690880);
}
