/* Questions about the device and about kernels, and wishes that change no result. */
#include <cuda_runtime.h>

#include "check.cuh"

__global__ void fill(int *x, int value) {
    extern __shared__ int staged[];
    staged[threadIdx.x] = value;
    x[blockIdx.x * blockDim.x + threadIdx.x] = staged[threadIdx.x];
}

__device__ float table[12];

static __host__ __device__ size_t shared_of(int threads) {
    return threads * sizeof(int);
}

int main() {
    cudaDeviceProp device;
    OK(cudaGetDeviceProperties(&device, 0));
    int mode, processors, warp, cooperative, managed;
    OK(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, 0));
    OK(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
    OK(cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, 0));
    OK(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0));
    OK(cudaDeviceGetAttribute(&managed, cudaDevAttrManagedMemory, 0));
    MUST(mode != cudaComputeModeProhibited && warp == 32 && cooperative == 1 && managed == 1);
    MUST(processors == device.multiProcessorCount && device.canMapHostMemory == 1);
    MUST(device.memPitch > 0 && device.asyncEngineCount >= 1 && device.unifiedAddressing == 1);
#if CUDART_VERSION < 13000
    MUST(device.clockRate > 0 && device.memoryClockRate > 0);
#endif

    OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 16 << 20));
    OK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    OK(cudaFuncSetCacheConfig(fill, cudaFuncCachePreferShared));
    int can = -1;
    OK(cudaDeviceCanAccessPeer(&can, 0, 0));
    MUST(can == 0);

    cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, fill));
    MUST(attributes.maxThreadsPerBlock >= 256);
    int blocks = 0, grid = 0, block = 0;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fill, 256, 256 * sizeof(int)));
    MUST(blocks >= 1);
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, fill, 0, 256));
    MUST(grid >= 1 && block >= 32 && block <= 256);
    OK(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &block, fill, shared_of, 0));
    MUST(block >= 32 && block <= 1024);

    size_t bytes = 0;
    void *address = NULL;
    OK(cudaGetSymbolSize(&bytes, table));
    OK(cudaGetSymbolAddress(&address, table));
    MUST(bytes == sizeof(float[12]) && address != NULL);

    int *x, host[64];
    OK(cudaMalloc(&x, sizeof host));
    fill<<<2, 32, 32 * sizeof(int)>>>(x, 7);
    OK(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 64; i++) {
        MUST(host[i] == 7);
    }
    OK(cudaFree(x));
    return 0;
}
