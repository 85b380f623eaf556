#include "device.h"
#include "block.h"
#include "rank.h"

/* A device as a program sees it: a small GPU of compute capability 8.0. All are alike. */

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

static cudaDeviceProp properties_of_device(int number) {
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
        .pciBusID = number,
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
    if (!sim_has_device(device)) {
        return cudaErrorInvalidDevice;
    }
    *properties = properties_of_device(device);
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
    cudaDeviceProp properties = properties_of_device(device);
    for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++) {
        const char *at = (const char *)&properties + attributes[i].offset;
        if (attributes[i].attribute == attribute) {
            size_t whole;
            int part;
            memcpy(&whole, at, sizeof whole);
            memcpy(&part, at, sizeof part);
            *value = attributes[i].bytes == sizeof part ? part : (int)whole;
            return sim_has_device(device) ? cudaSuccess : cudaErrorInvalidDevice;
        }
    }
    return cudaErrorInvalidValue;
}

/* ---- wishes: only the heap of kernels makes a difference here -------------------------------- */

typedef struct Wishes {
    unsigned flags;
    size_t limits[cudaLimitPersistingL2CacheSize + 1]; /* 0: not set */
    cudaFuncCache cache;
    cudaSharedMemConfig banks;
} Wishes;

static Wishes wishes[MOST_DEVICES]; /* by device */
static const size_t usual_limits[] = {[cudaLimitStackSize] = LOCAL_BYTES,
                                      [cudaLimitPrintfFifoSize] = 1 << 20,
                                      [cudaLimitMallocHeapSize] = 8 << 20,
                                      [cudaLimitMaxL2FetchGranularity] = 64,
                                      [cudaLimitPersistingL2CacheSize] = 0};

static Wishes *of_current(void) {
    return &wishes[sim_host()->device];
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
    of_current()->flags = flags;
    return cudaSuccess;
}

/* Makes nothing: a device is there from the start. It does not become the current one. */
cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
    if (!sim_has_device(device) || flags > cudaInitDeviceFlagsAreValid) {
        return flags > cudaInitDeviceFlagsAreValid ? cudaErrorInvalidValue : cudaErrorInvalidDevice;
    }
    if (flags == cudaInitDeviceFlagsAreValid) {
        wishes[device].flags = device_flags;
    }
    return cudaSuccess;
}

cudaError_t cudaCtxResetPersistingL2Cache(void) {
    return cudaSuccess;
}

cudaError_t cudaGetDeviceFlags(unsigned *flags) {
    *flags = of_current()->flags;
    return cudaSuccess;
}

/* All but those of kernels that launch kernels. */
static bool is_limit(cudaLimit limit) {
    return (size_t)limit < sizeof usual_limits / sizeof usual_limits[0] &&
           limit != cudaLimitDevRuntimeSyncDepth && limit != cudaLimitDevRuntimePendingLaunchCount;
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
    if (!is_limit(limit)) {
        return cudaErrorNotSupported;
    }
    of_current()->limits[limit] = value;
    return cudaSuccess;
}

static size_t limit_of(int device, cudaLimit limit) {
    size_t wanted = wishes[device].limits[limit];
    return wanted != 0 ? wanted : usual_limits[limit];
}

size_t sim_heap_limit(int device) {
    return limit_of(device, cudaLimitMallocHeapSize);
}

cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit) {
    if (!is_limit(limit)) {
        return cudaErrorNotSupported;
    }
    *value = limit_of(sim_host()->device, limit);
    return cudaSuccess;
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache wanted) {
    of_current()->cache = wanted;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *wanted) {
    *wanted = of_current()->cache;
    return cudaSuccess;
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig wanted) {
    of_current()->banks = wanted;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *wanted) {
    *wanted = of_current()->banks;
    return cudaSuccess;
}

/* The current device is as it was when the program began. */
cudaError_t cudasim_device_reset(const char *file, int line) {
    ENTER("cudaDeviceReset", file, line);
    Place place = {file, line};
    int number = sim_device();
    cudaError_t error = cudasim_device_synchronize(file, line);
    SimDevice *device = device_of(number);
    sim_report_leaks_of_device();
    sim_retire_all(number, place);
    variables_reset(number);
    device->peers = device->pool_users = 0;
    device->error = cudaSuccess;
    wishes[number] = (Wishes){0};
    return error;
}

/* ---- names by bus ---------------------------------------------------------------------------- */

cudaError_t cudaDeviceGetPCIBusId(char *text, int bytes, int device) {
    if (!sim_has_device(device) || bytes < 13) {
        return bytes < 13 ? cudaErrorInvalidValue : cudaErrorInvalidDevice;
    }
    snprintf(text, (size_t)bytes, "0000:%02x:00.0", (unsigned)device & 0xFF);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text) {
    unsigned bus, slot, function;
    bool with_domain = sscanf(text, "%*x:%x:%x.%x", &bus, &slot, &function) == 3;
    if (!with_domain && sscanf(text, "%x:%x.%x", &bus, &slot, &function) != 3) {
        return cudaErrorInvalidValue;
    }
    *device = (int)bus;
    return slot == 0 && function == 0 && sim_has_device(*device) ? cudaSuccess
                                                                 : cudaErrorInvalidDevice;
}

unsigned cudasim_multiprocessors(void) {
    return MULTIPROCESSORS;
}

/* ---- time ------------------------------------------------------------------------------------ */

static bool asked_by_kernel(void) {
    return sim_worker != NULL && sim_worker->in_kernel;
}

/* Nanoseconds; they say nothing about a GPU. */
long long cudasim_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    long long time = (long long)now.tv_sec * 1000000000 + now.tv_nsec;
    return asked_by_kernel() ? check_clock(time) : time;
}

/* clock() of the C library is another one than a kernel's. */
long cudasim_in_clock(void) {
    return asked_by_kernel() ? (long)cudasim_clock() : (long)clock();
}

/* ---- occupancy ------------------------------------------------------------------------------- */

/* No GPU's code is made, so registers do not limit it; threads, blocks and dynamic shared memory
   do. */
cudaError_t cudasim_active_blocks(int *blocks, const void *kernel, int threads, size_t shared) {
    if (blocks == NULL || kernel == NULL || threads < 1 || shared > DYNAMIC_SHARED) {
        return cudaErrorInvalidValue;
    }
    int whole = (threads + WARP - 1) / WARP * WARP;
    int most = (unsigned)threads > sim_most_threads(kernel) ? 0 : THREADS_OF_MULTIPROCESSOR / whole;
    int by_memory = (int)((DYNAMIC_SHARED + 1024) / (shared + 1024));
    most = most < BLOCKS_OF_MULTIPROCESSOR ? most : BLOCKS_OF_MULTIPROCESSOR;
    *blocks = most < by_memory ? most : by_memory;
    return cudaSuccess;
}

/* The other way round: the most of which this number of blocks has its share. */
cudaError_t cudasim_shared_of_blocks(size_t *bytes, const void *kernel, int blocks, int threads) {
    int most = 0;
    cudaError_t error = cudasim_active_blocks(&most, kernel, threads, 0);
    if (error != cudaSuccess || bytes == NULL || blocks < 1 || blocks > most) {
        return cudaErrorInvalidValue;
    }
    *bytes = (size_t)(DYNAMIC_SHARED + 1024) / (size_t)blocks - 1024;
    return cudaSuccess;
}
