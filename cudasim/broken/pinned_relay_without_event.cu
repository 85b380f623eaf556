/* One stream copies a result into pinned memory, another copies it from there to where it is
   needed, and does not wait for the first. */
#include "try.cuh"

enum { N = 64 };

static __global__ void fill(float *x) {
    x[threadIdx.x] = 4;
}

int main(void) {
    float host[N], *from, *relay, *to;
    cudaStream_t first, second;
    cudaEvent_t arrived;
    TRY(cudaStreamCreate(&first));
    TRY(cudaStreamCreate(&second));
    TRY(cudaEventCreate(&arrived));
    TRY(cudaMalloc(&from, sizeof host));
    TRY(cudaMalloc(&to, sizeof host));
    TRY(cudaMallocHost(&relay, sizeof host));
    for (int i = 0; i < N; i++) {
        relay[i] = 0;
    }
    fill<<<1, N, 0, first>>>(from);
    /* expect: stream race */
    TRY(cudaMemcpyAsync(relay, from, sizeof host, cudaMemcpyDeviceToHost, first));
    TRY(cudaEventRecord(arrived, first));
#ifdef MENDED
    TRY(cudaStreamWaitEvent(second, arrived, 0));
#endif
    TRY(cudaMemcpyAsync(to, relay, sizeof host, cudaMemcpyHostToDevice, second));
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(host, to, sizeof host, cudaMemcpyDeviceToHost));
    TRY(cudaFree(to));
    TRY(cudaFree(from));
    TRY(cudaFreeHost(relay));
    TRY(cudaEventDestroy(arrived));
    TRY(cudaStreamDestroy(first));
    TRY(cudaStreamDestroy(second));
    return expect(checksum(host, N), 4 * 2080);
}
