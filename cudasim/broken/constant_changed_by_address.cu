/* The table in constant memory is changed by its address in one stream while a kernel of another
   reads it. On a GPU some blocks read the old numbers and some the new. */
#include "try.cuh"

enum { N = 32 };

__constant__ float table[N];

static __global__ void look_up(float *out) {
    out[threadIdx.x] = table[threadIdx.x]; /* expect: stream race */
}

int main(void) {
    float *host, *out;
    void *address;
    cudaStream_t copies, kernels;
    TRY(cudaStreamCreate(&copies));
    TRY(cudaStreamCreate(&kernels));
    TRY(cudaMallocHost(&host, N * sizeof *host));
    TRY(cudaMalloc(&out, N * sizeof *out));
    for (int i = 0; i < N; i++) {
        host[i] = 1;
    }
    TRY(cudaGetSymbolAddress(&address, table));
    TRY(cudaMemcpyAsync(address, host, N * sizeof *host, cudaMemcpyHostToDevice, copies));
#ifdef MENDED
    TRY(cudaStreamSynchronize(copies));
#endif
    look_up<<<1, N, 0, kernels>>>(out);
    TRY(cudaGetLastError());
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemcpy(host, out, N * sizeof *host, cudaMemcpyDeviceToHost));
    return expect(checksum(host, N), 528);
}
