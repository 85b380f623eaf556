/* Attributes of streams, which change nothing that can be seen: windows of a cache, priorities, how
   the host waits. Flags of host memory, the name of a kernel, memory that is left for blocks. */
#include <cuda_runtime.h>
#include <string.h>

#include "check.cuh"

__global__ void twice(float *x, int count) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        x[i] *= 2;
    }
}

static void windows(float *x, int count) {
    cudaStream_t stream, other;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    cudaStreamAttrValue wanted, found;
    memset(&wanted, 0, sizeof wanted);
    memset(&found, 0, sizeof found);
    cudaDeviceProp device;
    OK(cudaGetDeviceProperties(&device, 0));
    OK(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, (size_t)device.persistingL2CacheMaxSize));
    size_t bytes = count * sizeof *x, most = (size_t)device.accessPolicyMaxWindowSize;
    wanted.accessPolicyWindow.base_ptr = x;
    wanted.accessPolicyWindow.num_bytes = bytes < most ? bytes : most;
    wanted.accessPolicyWindow.hitRatio = 0.5f;
    wanted.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    wanted.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    OK(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &wanted));
    OK(cudaStreamCopyAttributes(other, stream));
    OK(cudaStreamGetAttribute(other, cudaStreamAttributeAccessPolicyWindow, &found));
    MUST(found.accessPolicyWindow.base_ptr == x && found.accessPolicyWindow.hitRatio == 0.5f &&
         found.accessPolicyWindow.hitProp == cudaAccessPropertyPersisting);
    wanted.accessPolicyWindow.hitRatio = 2;
    MUST(cudaStreamSetAttribute(stream, cudaStreamAttributeAccessPolicyWindow, &wanted) ==
         cudaErrorInvalidValue);
    twice<<<(count + 127) / 128, 128, 0, stream>>>(x, count);
    OK(cudaStreamSynchronize(stream));
    OK(cudaCtxResetPersistingL2Cache());

    wanted.syncPolicy = cudaSyncPolicySpin;
    OK(cudaStreamSetAttribute(stream, cudaStreamAttributeSynchronizationPolicy, &wanted));
    OK(cudaStreamGetAttribute(stream, cudaStreamAttributeSynchronizationPolicy, &found));
    MUST(found.syncPolicy == cudaSyncPolicySpin);
    OK(cudaStreamCopyAttributes(other, stream));
    found.syncPolicy = cudaSyncPolicyAuto;
    OK(cudaStreamGetAttribute(other, cudaStreamAttributeSynchronizationPolicy, &found));
    MUST(found.syncPolicy == cudaSyncPolicySpin);
    int least, greatest, priority;
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    wanted.priority = greatest;
    OK(cudaStreamSetAttribute(other, cudaStreamAttributePriority, &wanted));
    OK(cudaStreamGetPriority(other, &priority));
    MUST(priority == greatest);
    OK(cudaStreamDestroy(stream));
    OK(cudaStreamDestroy(other));
}

static void flags_of_memory(void) {
    float *mapped, *plain = (float *)malloc(4096), *device;
    unsigned flags = 0;
    OK(cudaHostAlloc((void **)&mapped, 64, cudaHostAllocMapped | cudaHostAllocPortable));
    OK(cudaHostGetFlags(&flags, mapped));
    MUST((flags & cudaHostAllocPortable) && (flags & cudaHostAllocMapped));
    OK(cudaHostRegister(plain, 4096, cudaHostRegisterPortable));
    OK(cudaHostGetFlags(&flags, plain));
    MUST(flags & cudaHostRegisterPortable);
    OK(cudaHostUnregister(plain));
    OK(cudaMalloc(&device, 64));
    MUST(cudaHostGetFlags(&flags, device) == cudaErrorInvalidValue);
    cudaGetLastError();
    OK(cudaFree(device));
    OK(cudaFreeHost(mapped));
    free(plain);
}

static void kernels(void) {
    const char *name = NULL;
    OK(cudaFuncGetName(&name, (const void *)twice));
    MUST(strstr(name, "twice") != NULL);
    size_t bytes = 0, all = 0;
    OK(cudaOccupancyAvailableDynamicSMemPerBlock(&all, twice, 1, 128));
    OK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, twice, 4, 128));
    MUST(bytes > 0 && bytes <= all / 4);
    int blocks = 0, grid = 0, block = 0;
    OK(cudaFuncSetAttribute(twice, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, twice, 128, bytes));
    MUST(blocks >= 4);
    MUST(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, twice, 1000, 128) ==
         cudaErrorInvalidValue);
    cudaGetLastError();
    OK(cudaOccupancyMaxPotentialBlockSizeWithFlags(&grid, &block, twice, 0, 0,
                                                   cudaOccupancyDefault));
    MUST(grid > 0 && block >= 32);
}

static void slices(void) {
    enum { WIDTH = 7, ROWS = 3, SLICES = 2 };
    cudaPitchedPtr memory;
    cudaExtent extent = make_cudaExtent(WIDTH, ROWS, SLICES);
    unsigned char last[WIDTH];
    OK(cudaMalloc3D(&memory, extent));
    OK(cudaMemset3DAsync(memory, 5, extent, 0));
    OK(cudaMemcpy(last, (char *)memory.ptr + (ROWS * SLICES - 1) * memory.pitch, WIDTH,
                  cudaMemcpyDeviceToHost));
    MUST(last[0] == 5 && last[WIDTH - 1] == 5);
    OK(cudaFree(memory.ptr));
}

int main() {
    const int count = 1000;
    float *x, first = 21;
    int device = -1;
    OK(cudaInitDevice(0, 0, 0));
    OK(cudaMalloc(&x, count * sizeof *x));
    OK(cudaMemset(x, 0, count * sizeof *x));
    OK(cudaMemcpy(x, &first, sizeof first, cudaMemcpyHostToDevice));
    windows(x, count);
    OK(cudaMemcpy(&first, x, sizeof first, cudaMemcpyDeviceToHost));
    MUST(first == 42);
    OK(cudaStreamGetDevice(0, &device));
    MUST(device == 0);
    flags_of_memory();
    kernels();
    slices();
    OK(cudaFree(x));
}
