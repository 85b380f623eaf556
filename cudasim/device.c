#include "block.h"

/* The device as a program sees it: a small GPU of compute capability 8.0. */

enum { MULTIPROCESSORS = 4, THREADS_OF_MULTIPROCESSOR = 1024, BLOCKS_OF_MULTIPROCESSOR = 16 };

cudaError_t cudaDriverGetVersion(int *version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version) {
    *version = CUDART_VERSION;
    return cudaSuccess;
}

/* ---- properties ------------------------------------------------------------------------------ */

static cudaDeviceProp properties_of_device(void) {
    sim_begin();
    return (cudaDeviceProp){
        .name = "cudasim (not a GPU)",
        .totalGlobalMem = sim_settings.memory,
        .sharedMemPerBlock = STATIC_SHARED,
        .regsPerBlock = 65536,
        .warpSize = WARP,
        .memPitch = INT_MAX,
        .maxThreadsPerBlock = MAX_THREADS,
        .maxThreadsDim = {MAX_THREADS, MAX_THREADS, 64},
        .maxGridSize = {INT_MAX, 65535, 65535},
        .clockRate = 1000000,
        .totalConstMem = 64 << 10,
        .major = 8,
        .textureAlignment = 512,
        .texturePitchAlignment = 32,
        .deviceOverlap = 1,
        .multiProcessorCount = MULTIPROCESSORS,
        .canMapHostMemory = 1,
        .surfaceAlignment = 512,
        .concurrentKernels = 1,
        .asyncEngineCount = 2,
        .unifiedAddressing = 1,
        .memoryClockRate = 1000000,
        .memoryBusWidth = 64,
        .l2CacheSize = 1 << 20,
        .maxThreadsPerMultiProcessor = THREADS_OF_MULTIPROCESSOR,
        .streamPrioritiesSupported = 1,
        .globalL1CacheSupported = 1,
        .localL1CacheSupported = 1,
        .sharedMemPerMultiprocessor = DYNAMIC_SHARED + 1024,
        .regsPerMultiprocessor = 65536,
        .managedMemory = 1,
        .singleToDoublePrecisionPerfRatio = 32,
        .canUseHostPointerForRegisteredMem = 1,
        .cooperativeLaunch = 1,
        .sharedMemPerBlockOptin = DYNAMIC_SHARED,
        .maxBlocksPerMultiProcessor = BLOCKS_OF_MULTIPROCESSOR,
        .reservedSharedMemPerBlock = 1024,
        .hostRegisterSupported = 1,
        .memoryPoolsSupported = 1,
    };
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device) {
    if (device != 0) {
        return cudaErrorInvalidDevice;
    }
    *properties = properties_of_device();
    return cudaSuccess;
}

cudaError_t cudaChooseDevice(int *device, const cudaDeviceProp *wanted) {
    (void)wanted;
    *device = 0;
    return cudaSuccess;
}

/* Where in the properties an attribute stands, and in how many bytes. */
#define ATTRIBUTE(name, member)                                                                    \
    { cudaDevAttr##name, offsetof(cudaDeviceProp, member), sizeof(((cudaDeviceProp *)0)->member) }
static const struct {
    cudaDeviceAttr attribute;
    size_t offset, bytes;
} attributes[] = {
    ATTRIBUTE(MaxThreadsPerBlock, maxThreadsPerBlock),
    ATTRIBUTE(MaxBlockDimX, maxThreadsDim[0]),
    ATTRIBUTE(MaxBlockDimY, maxThreadsDim[1]),
    ATTRIBUTE(MaxBlockDimZ, maxThreadsDim[2]),
    ATTRIBUTE(MaxGridDimX, maxGridSize[0]),
    ATTRIBUTE(MaxGridDimY, maxGridSize[1]),
    ATTRIBUTE(MaxGridDimZ, maxGridSize[2]),
    ATTRIBUTE(MaxSharedMemoryPerBlock, sharedMemPerBlock),
    ATTRIBUTE(TotalConstantMemory, totalConstMem),
    ATTRIBUTE(WarpSize, warpSize),
    ATTRIBUTE(MaxPitch, memPitch),
    ATTRIBUTE(MaxRegistersPerBlock, regsPerBlock),
    ATTRIBUTE(ClockRate, clockRate),
    ATTRIBUTE(TextureAlignment, textureAlignment),
    ATTRIBUTE(GpuOverlap, deviceOverlap),
    ATTRIBUTE(MultiProcessorCount, multiProcessorCount),
    ATTRIBUTE(KernelExecTimeout, kernelExecTimeoutEnabled),
    ATTRIBUTE(Integrated, integrated),
    ATTRIBUTE(CanMapHostMemory, canMapHostMemory),
    ATTRIBUTE(ComputeMode, computeMode),
    ATTRIBUTE(ConcurrentKernels, concurrentKernels),
    ATTRIBUTE(EccEnabled, ECCEnabled),
    ATTRIBUTE(PciBusId, pciBusID),
    ATTRIBUTE(PciDeviceId, pciDeviceID),
    ATTRIBUTE(MemoryClockRate, memoryClockRate),
    ATTRIBUTE(GlobalMemoryBusWidth, memoryBusWidth),
    ATTRIBUTE(L2CacheSize, l2CacheSize),
    ATTRIBUTE(MaxThreadsPerMultiProcessor, maxThreadsPerMultiProcessor),
    ATTRIBUTE(AsyncEngineCount, asyncEngineCount),
    ATTRIBUTE(UnifiedAddressing, unifiedAddressing),
    ATTRIBUTE(ComputeCapabilityMajor, major),
    ATTRIBUTE(ComputeCapabilityMinor, minor),
    ATTRIBUTE(StreamPrioritiesSupported, streamPrioritiesSupported),
    ATTRIBUTE(MaxSharedMemoryPerMultiprocessor, sharedMemPerMultiprocessor),
    ATTRIBUTE(MaxRegistersPerMultiprocessor, regsPerMultiprocessor),
    ATTRIBUTE(ManagedMemory, managedMemory),
    ATTRIBUTE(HostNativeAtomicSupported, hostNativeAtomicSupported),
    ATTRIBUTE(SingleToDoublePrecisionPerfRatio, singleToDoublePrecisionPerfRatio),
    ATTRIBUTE(PageableMemoryAccess, pageableMemoryAccess),
    ATTRIBUTE(ConcurrentManagedAccess, concurrentManagedAccess),
    ATTRIBUTE(CooperativeLaunch, cooperativeLaunch),
    ATTRIBUTE(MaxSharedMemoryPerBlockOptin, sharedMemPerBlockOptin),
    ATTRIBUTE(HostRegisterSupported, hostRegisterSupported),
    ATTRIBUTE(MaxBlocksPerMultiprocessor, maxBlocksPerMultiProcessor),
    ATTRIBUTE(ReservedSharedMemoryPerBlock, reservedSharedMemPerBlock),
    ATTRIBUTE(MemoryPoolsSupported, memoryPoolsSupported),
};

cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device) {
    cudaDeviceProp properties = properties_of_device();
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        const char *at = (const char *)&properties + attributes[i].offset;
        if (attributes[i].attribute == attribute) {
            size_t whole;
            int part;
            memcpy(&whole, at, sizeof whole);
            memcpy(&part, at, sizeof part);
            *value = attributes[i].bytes == sizeof part ? part : (int)whole;
            return device == 0 ? cudaSuccess : cudaErrorInvalidDevice;
        }
    }
    return cudaErrorInvalidValue;
}

/* ---- wishes that make no difference here ----------------------------------------------------- */

static unsigned device_flags;
static size_t limits[] = {[cudaLimitStackSize] = STACK_BYTES,
                          [cudaLimitPrintfFifoSize] = 1 << 20,
                          [cudaLimitMallocHeapSize] = 8 << 20};
static cudaFuncCache cache_wanted;
static cudaSharedMemConfig banks_wanted;

cudaError_t cudaSetDeviceFlags(unsigned flags) {
    device_flags = flags;
    return cudaSuccess;
}

cudaError_t cudaGetDeviceFlags(unsigned *flags) {
    *flags = device_flags;
    return cudaSuccess;
}

static bool is_limit(cudaLimit limit) {
    return (size_t)limit < sizeof limits / sizeof limits[0];
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
    if (!is_limit(limit)) {
        return cudaErrorNotSupported;
    }
    limits[limit] = value;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit) {
    if (!is_limit(limit)) {
        return cudaErrorNotSupported;
    }
    *value = limits[limit];
    return cudaSuccess;
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache wanted) {
    cache_wanted = wanted;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *wanted) {
    *wanted = cache_wanted;
    return cudaSuccess;
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig wanted) {
    banks_wanted = wanted;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *wanted) {
    *wanted = banks_wanted;
    return cudaSuccess;
}

/* ---- other devices, of which there are none -------------------------------------------------- */

cudaError_t cudaDeviceGetPCIBusId(char *text, int bytes, int device) {
    if (device != 0 || bytes < 13) {
        return device != 0 ? cudaErrorInvalidDevice : cudaErrorInvalidValue;
    }
    snprintf(text, (size_t)bytes, "0000:00:00.0");
    return cudaSuccess;
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    *can = 0;
    return device == 0 && peer == 0 ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
    (void)peer, (void)flags;
    return cudaErrorInvalidDevice;
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
    (void)peer;
    return cudaErrorInvalidDevice;
}

unsigned cudasim_multiprocessors(void) {
    return MULTIPROCESSORS;
}

/* ---- time ------------------------------------------------------------------------------------ */

/* Nanoseconds; they say nothing about a GPU. */
long long cudasim_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- occupancy ------------------------------------------------------------------------------- */

/* No GPU's code is made, so registers do not limit it; threads, blocks and dynamic shared memory
   do. */
cudaError_t cudasim_active_blocks(int *blocks, const void *kernel, int threads, size_t shared) {
    if (blocks == NULL || kernel == NULL || threads < 1 || shared > DYNAMIC_SHARED) {
        return cudaErrorInvalidValue;
    }
    int whole = (threads + WARP - 1) / WARP * WARP;
    int most = threads > MAX_THREADS ? 0 : THREADS_OF_MULTIPROCESSOR / whole;
    int by_memory = (int)((DYNAMIC_SHARED + 1024) / (shared + 1024));
    most = most < BLOCKS_OF_MULTIPROCESSOR ? most : BLOCKS_OF_MULTIPROCESSOR;
    *blocks = most < by_memory ? most : by_memory;
    return cudaSuccess;
}
