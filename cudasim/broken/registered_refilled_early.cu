/* Memory that cudaHostRegister() has pinned is refilled while a copy from it may be on its way. Of
   pageable memory, cudaMemcpyAsync() would have kept a copy before it returned. */
#include "try.cuh"

enum { N = 1024, BATCHES = 2 };

static __global__ void add(float *sum, const float *batch) {
    sum[threadIdx.x] += batch[threadIdx.x];
}

int main(void) {
    static float host[N];
    float *sum, *batch, *x = (float *)aligned_alloc(4096, sizeof host);
    cudaStream_t stream;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaHostRegister(x, sizeof host, cudaHostRegisterDefault));
    TRY(cudaMalloc(&sum, sizeof host));
    TRY(cudaMalloc(&batch, sizeof host));
    TRY(cudaMemset(sum, 0, sizeof host));
    for (int b = 1; b <= BATCHES; b++) {
        for (int i = 0; i < N; i++) {
            x[i] = b; /* expect: pending copy */
        }
        TRY(cudaMemcpyAsync(batch, x, sizeof host, cudaMemcpyHostToDevice, stream));
        add<<<1, N, 0, stream>>>(sum, batch);
        TRY(cudaGetLastError());
#ifdef MENDED
        TRY(cudaStreamSynchronize(stream));
#endif
    }
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaHostUnregister(x));
    TRY(cudaMemcpy(host, sum, sizeof host, cudaMemcpyDeviceToHost));
    free(x);
    TRY(cudaFree(batch));
    TRY(cudaFree(sum));
    TRY(cudaStreamDestroy(stream));
    return expect(checksum(host, N), 3.0 * N * (N + 1) / 2);
}
