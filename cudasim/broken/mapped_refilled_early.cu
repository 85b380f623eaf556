/* The host puts the next batch into mapped memory from which a queued kernel is still to read this
   one. On a GPU the kernel reads a mixture of both. */
#include "try.cuh"

enum { N = 64, BATCHES = 2 };

static __global__ void add(float *sum, const float *batch) {
    sum[threadIdx.x] += batch[threadIdx.x];
}

int main(void) {
    float host[N], *sum, *batch;
    TRY(cudaMalloc(&sum, sizeof host));
    TRY(cudaMemset(sum, 0, sizeof host));
    TRY(cudaMallocHost(&batch, sizeof host));
    for (int b = 1; b <= BATCHES; b++) {
        for (int i = 0; i < N; i++) {
            batch[i] = b; /* expect: pending kernel */
        }
        add<<<1, N>>>(sum, batch);
        TRY(cudaGetLastError());
#ifdef MENDED
        TRY(cudaDeviceSynchronize());
#endif
    }
    TRY(cudaMemcpy(host, sum, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFreeHost(batch));
    TRY(cudaFree(sum));
    return expect(checksum(host, N), 3 * 2080);
}
