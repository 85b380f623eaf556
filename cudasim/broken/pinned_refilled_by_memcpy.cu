/* The host copies the next batch into pinned memory by memcpy(), while the copy of this one to the
   device may still read there. On a GPU the device gets parts of both. */
#include <string.h>

#include "try.cuh"

enum { N = 4096, BATCHES = 2 };

static __global__ void add(float *sum, const float *batch) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    sum[i] += batch[i];
}

int main(void) {
    static float host[N];
    float *sum, *batch, *pinned;
    cudaStream_t stream;
    TRY(cudaStreamCreate(&stream));
    TRY(cudaMalloc(&sum, sizeof host));
    TRY(cudaMalloc(&batch, sizeof host));
    TRY(cudaMemset(sum, 0, sizeof host));
    TRY(cudaMallocHost(&pinned, sizeof host));
    for (int b = 1; b <= BATCHES; b++) {
        for (int i = 0; i < N; i++) {
            host[i] = b;
        }
        memcpy(pinned, host, sizeof host); /* expect: pending copy */
        TRY(cudaMemcpyAsync(batch, pinned, sizeof host, cudaMemcpyHostToDevice, stream));
        add<<<N / 256, 256, 0, stream>>>(sum, batch);
        TRY(cudaGetLastError());
#ifdef MENDED
        TRY(cudaStreamSynchronize(stream));
#endif
    }
    TRY(cudaStreamSynchronize(stream));
    TRY(cudaMemcpy(host, sum, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFreeHost(pinned));
    TRY(cudaFree(batch));
    TRY(cudaFree(sum));
    TRY(cudaStreamDestroy(stream));
    return expect(checksum(host, N), 3.0 * N * (N + 1) / 2);
}
