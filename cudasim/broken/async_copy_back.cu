/* An asynchronous copy goes from global to shared memory, never back. */
#include <cuda_pipeline.h>

#include "try.cuh"

enum { N = 128 };

static __global__ void there_and_back(float *out, const float *x) {
    __shared__ float row[N];
    int i = threadIdx.x;
    row[i] = x[i] + 1;
#ifdef MENDED
    out[i] = row[i];
#else
    __pipeline_memcpy_async(&out[i], &row[i], sizeof(float)); /* expect: invalid copy */
    __pipeline_commit();
    __pipeline_wait_prior(0);
#endif
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
    there_and_back<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaFree(out));
    return expect(checksum(host, N), 707264);
}
