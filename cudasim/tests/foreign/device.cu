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

/* Kernels that promise small blocks, by a number, by a template's argument, before the type. */
__global__ __launch_bounds__(256) void of_256(int *x) {
    x[threadIdx.x] = 1;
}
template <int Most> static __global__ void __launch_bounds__(Most / 2, 1) of_half(int *x) {
    x[threadIdx.x] = Most;
}
__launch_bounds__(64) static __global__ void of_64(int *x) {
    x[threadIdx.x] = 3;
}
template <class T> __global__ void of_any(T *x) {
    x[threadIdx.x] = 4;
}

template <class K> static void bounded(K *kernel, int most, int *x) {
    cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, kernel));
    MUST(attributes.maxThreadsPerBlock == most);
    int blocks = -1, grid = 0, block = 0;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, most, 0));
    MUST(blocks >= 1);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, most + 32, 0));
    MUST(blocks == 0);
    OK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernel));
    MUST(grid >= 1 && block >= 32 && block <= most);
    kernel<<<1, block>>>(x);
    OK(cudaGetLastError());
    OK(cudaDeviceSynchronize());
}

static void bounds() {
    int *x;
    OK(cudaMalloc(&x, 1024 * sizeof(int)));
    bounded(of_256, 256, x);
    bounded(of_half<256>, 128, x);
    bounded(of_64, 64, x);
    bounded(of_half<1024>, 512, x);
    OK(cudaFree(x));
    cudaFuncAttributes attributes;
    OK(cudaFuncGetAttributes(&attributes, of_any<int>));
    MUST(attributes.maxThreadsPerBlock == 1024);
}

int main() {
    bounds();
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
