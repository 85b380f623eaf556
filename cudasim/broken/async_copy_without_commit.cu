/* A wait is for batches, and a copy is in none before a commit: the thread waits for nothing. */
/* says: nor has it committed it */
#include <cuda_pipeline.h>

#include "try.cuh"

enum { N = 128 };

static __global__ void twice(float *out, const float *x) {
    __shared__ float row[N];
    int i = threadIdx.x;
    __pipeline_memcpy_async(&row[i], &x[i], sizeof(float));
#ifdef MENDED
    __pipeline_commit();
#endif
    __pipeline_wait_prior(0);
    out[i] = 2 * row[i]; /* expect: pending copy */
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
    twice<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaFree(out));
    return expect(checksum(host, N), 1398016);
}
