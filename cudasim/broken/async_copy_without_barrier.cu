/* Each thread waits for its own copies, and reads what another thread has copied: a barrier must
   follow the wait. */
#include <cuda_pipeline.h>

#include "try.cuh"

enum { N = 128 };

static __global__ void reverse(float *out, const float *x) {
    __shared__ float row[N];
    int i = threadIdx.x;
    __pipeline_memcpy_async(&row[i], &x[i], sizeof(float));
    __pipeline_commit();
    __pipeline_wait_prior(0);
#ifdef MENDED
    __syncthreads();
#endif
    out[i] = row[N - 1 - i]; /* expect: race */
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
    reverse<<<1, N>>>(out, x);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(host, out, N * sizeof *out, cudaMemcpyDeviceToHost));
    TRY(cudaFree(x));
    TRY(cudaFree(out));
    return expect(checksum(host, N), 349504);
}
