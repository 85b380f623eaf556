/* A pool of a program's own, access to it, memory from it by both calls; no peer. */
#include <cuda_runtime.h>

#include "check.cuh"

__global__ void fill(int *x, int value) {
    x[threadIdx.x] = value;
}

int main() {
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    cudaMemPool_t pool;
    OK(cudaMemPoolCreate(&pool, &properties));
    cudaMemAccessDesc access = {};
    access.location = properties.location;
    access.flags = cudaMemAccessFlagsProtReadWrite;
    OK(cudaMemPoolSetAccess(pool, &access, 1));
    cudaMemAccessFlags flags;
    OK(cudaMemPoolGetAccess(&flags, pool, &access.location));
    MUST(flags == cudaMemAccessFlagsProtReadWrite);

    cudaStream_t stream;
    OK(cudaStreamCreate(&stream));
    int *a, *b, sum[2] = {};
    OK(cudaMallocFromPoolAsync(&a, 32 * sizeof *a, pool, stream));
    OK(cudaMallocAsync(&b, 32 * sizeof *b, pool, stream));
    fill<<<1, 32, 0, stream>>>(a, 3);
    fill<<<1, 32, 0, stream>>>(b, 4);
    OK(cudaMemcpyAsync(&sum[0], a + 31, sizeof *a, cudaMemcpyDeviceToHost, stream));
    OK(cudaMemcpyAsync(&sum[1], b + 31, sizeof *b, cudaMemcpyDeviceToHost, stream));
    OK(cudaFreeAsync(a, stream));
    OK(cudaFreeAsync(b, stream));
    OK(cudaStreamSynchronize(stream));
    MUST(sum[0] == 3 && sum[1] == 4);
    OK(cudaStreamDestroy(stream));
    OK(cudaMemPoolDestroy(pool));

    int value;
    MUST(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0) ==
         cudaErrorInvalidDevice);
    cudaGetLastError();
}
