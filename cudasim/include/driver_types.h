/**
 * @file driver_types.h
 * @brief The types of the CUDA runtime's host functions, as cudasim offers them.
 * @ingroup cudasim
 */
#ifndef CUDASIM_DRIVER_TYPES_H
#define CUDASIM_DRIVER_TYPES_H

#include <stddef.h>

/** Defined by the simulator and by nothing else. */
#define CUDASIM 1
/** The version of CUDA whose interface this is: 12.4. */
#define CUDART_VERSION 12040

/** @cond */
#ifdef __cplusplus
#define CUDASIM_DEFAULT(value) = value
#else
#define CUDASIM_DEFAULT(value)
#endif
/* The line on which a call begins: the __LINE__ of clang is that on which it ends. */
#define CUDASIM_HERE __FILE__, __builtin_LINE()
#define CUDASIM_PLACE const char *file, int line

/* By these names programs ask which of NVIDIA's headers have been included. */
#define __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_API_H__
#define __DRIVER_TYPES_H__
#define __VECTOR_TYPES_H__
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 4
#if defined __CUDACC__ && !defined __NVCC__
#define __NVCC__ 1
#endif
/* There is one compilation, for both sides: it takes what is written for the device. */
#if defined __CUDACC__ && !defined __CUDA_ARCH__
#define __CUDA_ARCH__ 800
#endif
/** @endcond */

/** The outcome of a call. The numbers are CUDA's. */
typedef enum cudaError {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInitializationError = 3,
    cudaErrorCudartUnloading = 4,
    cudaErrorProfilerDisabled = 5,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidPitchValue = 12,
    cudaErrorInvalidSymbol = 13,
    cudaErrorInvalidHostPointer = 16,
    cudaErrorInvalidDevicePointer = 17,
    cudaErrorInvalidMemcpyDirection = 21,
    cudaErrorInsufficientDriver = 35,
    cudaErrorDevicesUnavailable = 46,
    cudaErrorMissingConfiguration = 52,
    cudaErrorInvalidDeviceFunction = 98,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidKernelImage = 200,
    cudaErrorNoKernelImageForDevice = 209,
    cudaErrorECCUncorrectable = 214,
    cudaErrorPeerAccessUnsupported = 217,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorOperatingSystem = 304,
    cudaErrorIllegalState = 401,
    cudaErrorSymbolNotFound = 500,
    cudaErrorNotReady = 600,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchOutOfResources = 701,
    cudaErrorLaunchTimeout = 702,
    cudaErrorPeerAccessAlreadyEnabled = 704,
    cudaErrorPeerAccessNotEnabled = 705,
    cudaErrorAssert = 710,
    cudaErrorHostMemoryAlreadyRegistered = 712,
    cudaErrorHostMemoryNotRegistered = 713,
    cudaErrorHardwareStackError = 714,
    cudaErrorIllegalInstruction = 715,
    cudaErrorMisalignedAddress = 716,
    cudaErrorInvalidAddressSpace = 717,
    cudaErrorInvalidPc = 718,
    cudaErrorLaunchFailure = 719,
    cudaErrorCooperativeLaunchTooLarge = 720,
    cudaErrorNotPermitted = 800,
    cudaErrorNotSupported = 801,
    cudaErrorStreamCaptureUnsupported = 900,
    cudaErrorStreamCaptureInvalidated = 901,
    cudaErrorStreamCaptureMerge = 902,
    cudaErrorStreamCaptureUnmatched = 903,
    cudaErrorStreamCaptureUnjoined = 904,
    cudaErrorStreamCaptureIsolation = 905,
    cudaErrorStreamCaptureImplicit = 906,
    cudaErrorCapturedEvent = 907,
    cudaErrorStreamCaptureWrongThread = 908,
    cudaErrorTimeout = 909,
    cudaErrorGraphExecUpdateFailure = 910,
    cudaErrorUnknown = 999
} cudaError_t;

/** Between which memories a copy goes. */
typedef enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault
} cudaMemcpyKind;

typedef struct CUstream_st *cudaStream_t;   /**< a queue of work; NULL is the default stream */
typedef struct CUevent_st *cudaEvent_t;     /**< a place in a stream */
typedef struct CUmemPool_st *cudaMemPool_t; /**< what cudaMallocAsync takes from */

/** The legacy default stream by name. */
#define cudaStreamLegacy ((cudaStream_t)1)

/** 16 bytes that tell devices apart. */
typedef struct cudaUUID_t {
    char bytes[16]; /**< all 0 */
} cudaUUID_t;

/** The properties of the device. */
typedef struct cudaDeviceProp {
    char name[256];                       /**< "cudasim (not a GPU)" */
    cudaUUID_t uuid;                      /**< none */
    char luid[8];                         /**< none */
    unsigned luidDeviceNodeMask;          /**< 0 */
    size_t totalGlobalMem;                /**< bytes */
    size_t sharedMemPerBlock;             /**< bytes without asking for more */
    int regsPerBlock;                     /**< 32-bit registers */
    int warpSize;                         /**< 32 */
    size_t memPitch;                      /**< bytes: the widest row of a copy by rows */
    int maxThreadsPerBlock;               /**< 1024 */
    int maxThreadsDim[3];                 /**< by dimension of a block */
    int maxGridSize[3];                   /**< by dimension of a grid */
    int clockRate;                        /**< kHz; of no GPU */
    size_t totalConstMem;                 /**< bytes */
    int major;                            /**< compute capability */
    int minor;                            /**< compute capability */
    size_t textureAlignment;              /**< bytes */
    size_t texturePitchAlignment;         /**< bytes */
    int deviceOverlap;                    /**< 1: copies and kernels overlap */
    int multiProcessorCount;              /**< a small GPU's */
    int kernelExecTimeoutEnabled;         /**< 0 */
    int integrated;                       /**< 0 */
    int canMapHostMemory;                 /**< 1 */
    int computeMode;                      /**< cudaComputeModeDefault */
    int maxTexture1D;                     /**< 0, and so the others: there are no textures */
    int maxTexture1DLinear;               /**< none */
    int maxTexture2D[2];                  /**< none */
    int maxTexture3D[3];                  /**< none */
    int maxTexture1DLayered[2];           /**< none */
    int maxTexture2DLayered[3];           /**< none */
    size_t surfaceAlignment;              /**< bytes */
    int concurrentKernels;                /**< 1 */
    int ECCEnabled;                       /**< 0 */
    int pciBusID;                         /**< 0 */
    int pciDeviceID;                      /**< 0 */
    int pciDomainID;                      /**< 0 */
    int tccDriver;                        /**< 0 */
    int asyncEngineCount;                 /**< copies at once */
    int unifiedAddressing;                /**< 1: a pointer tells which memory it is of */
    int memoryClockRate;                  /**< kHz; of no GPU */
    int memoryBusWidth;                   /**< bits */
    int l2CacheSize;                      /**< bytes */
    int persistingL2CacheMaxSize;         /**< 0 */
    int maxThreadsPerMultiProcessor;      /**< a small GPU's */
    int streamPrioritiesSupported;        /**< 1 */
    int globalL1CacheSupported;           /**< 1 */
    int localL1CacheSupported;            /**< 1 */
    size_t sharedMemPerMultiprocessor;    /**< bytes */
    int regsPerMultiprocessor;            /**< 32-bit registers */
    int managedMemory;                    /**< 1 */
    int isMultiGpuBoard;                  /**< 0 */
    int multiGpuBoardGroupID;             /**< 0 */
    int hostNativeAtomicSupported;        /**< 0 */
    int singleToDoublePrecisionPerfRatio; /**< as on a GPU for games */
    int pageableMemoryAccess;             /**< 0: kernels cannot use memory of malloc() */
    int concurrentManagedAccess; /**< 0: while a kernel may use managed memory the host must not */
    int computePreemptionSupported;             /**< 0 */
    int canUseHostPointerForRegisteredMem;      /**< 1 */
    int cooperativeLaunch;                      /**< 1 */
    int cooperativeMultiDeviceLaunch;           /**< 0 */
    size_t sharedMemPerBlockOptin;              /**< bytes after cudaFuncSetAttribute() */
    int pageableMemoryAccessUsesHostPageTables; /**< 0 */
    int directManagedMemAccessFromHost;         /**< 0 */
    int maxBlocksPerMultiProcessor;             /**< a small GPU's */
    int accessPolicyMaxWindowSize;              /**< 0 */
    size_t reservedSharedMemPerBlock;           /**< bytes */
    int hostRegisterSupported;                  /**< 1 */
    int memoryPoolsSupported;                   /**< 1 */
} cudaDeviceProp;

/** The attributes that cudaFuncSetAttribute() sets. */
typedef enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
} cudaFuncAttribute;

/** Values of cudaFuncAttributePreferredSharedMemoryCarveout, which changes nothing here. */
typedef enum cudaSharedCarveout {
    cudaSharedmemCarveoutDefault = -1,
    cudaSharedmemCarveoutMaxL1 = 0,
    cudaSharedmemCarveoutMaxShared = 100
} cudaSharedCarveout;

enum { cudaOccupancyDefault = 0, cudaOccupancyDisableCachingOverride = 1 };

/** The attributes that cudaDeviceGetAttribute() gives. */
typedef enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxBlockDimX = 2,
    cudaDevAttrMaxBlockDimY = 3,
    cudaDevAttrMaxBlockDimZ = 4,
    cudaDevAttrMaxGridDimX = 5,
    cudaDevAttrMaxGridDimY = 6,
    cudaDevAttrMaxGridDimZ = 7,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrTotalConstantMemory = 9,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrMaxPitch = 11,
    cudaDevAttrMaxRegistersPerBlock = 12,
    cudaDevAttrClockRate = 13,
    cudaDevAttrTextureAlignment = 14,
    cudaDevAttrGpuOverlap = 15,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrKernelExecTimeout = 17,
    cudaDevAttrIntegrated = 18,
    cudaDevAttrCanMapHostMemory = 19,
    cudaDevAttrComputeMode = 20,
    cudaDevAttrConcurrentKernels = 31,
    cudaDevAttrEccEnabled = 32,
    cudaDevAttrPciBusId = 33,
    cudaDevAttrPciDeviceId = 34,
    cudaDevAttrMemoryClockRate = 36,
    cudaDevAttrGlobalMemoryBusWidth = 37,
    cudaDevAttrL2CacheSize = 38,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39,
    cudaDevAttrAsyncEngineCount = 40,
    cudaDevAttrUnifiedAddressing = 41,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrStreamPrioritiesSupported = 78,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxRegistersPerMultiprocessor = 82,
    cudaDevAttrManagedMemory = 83,
    cudaDevAttrHostNativeAtomicSupported = 86,
    cudaDevAttrSingleToDoublePrecisionPerfRatio = 87,
    cudaDevAttrPageableMemoryAccess = 88,
    cudaDevAttrConcurrentManagedAccess = 89,
    cudaDevAttrCooperativeLaunch = 95,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
    cudaDevAttrHostRegisterSupported = 99,
    cudaDevAttrMaxBlocksPerMultiprocessor = 106,
    cudaDevAttrReservedSharedMemoryPerBlock = 111,
    cudaDevAttrMemoryPoolsSupported = 115
} cudaDeviceAttr;

/** The attributes of cudaMemPoolSetAttribute() and cudaMemPoolGetAttribute(); uint64_t bytes. */
typedef enum cudaMemPoolAttr {
    cudaMemPoolReuseFollowEventDependencies = 1,
    cudaMemPoolReuseAllowOpportunistic = 2,
    cudaMemPoolReuseAllowInternalDependencies = 3,
    cudaMemPoolAttrReleaseThreshold = 4,
    cudaMemPoolAttrReservedMemCurrent = 5,
    cudaMemPoolAttrReservedMemHigh = 6,
    cudaMemPoolAttrUsedMemCurrent = 7,
    cudaMemPoolAttrUsedMemHigh = 8
} cudaMemPoolAttr;

/** The memory that a pointer points to. */
typedef enum cudaMemoryType {
    cudaMemoryTypeUnregistered,
    cudaMemoryTypeHost,
    cudaMemoryTypeDevice,
    cudaMemoryTypeManaged
} cudaMemoryType;

/** Answer of cudaPointerGetAttributes(). */
typedef struct cudaPointerAttributes {
    cudaMemoryType type; /**< which memory */
    int device;          /**< whose memory it is, or that was current when it was made */
    void *devicePointer; /**< as a kernel sees it, or NULL */
    void *hostPointer;   /**< as the host sees it, or NULL */
} cudaPointerAttributes;

/** Who may use the device. */
typedef enum cudaComputeMode {
    cudaComputeModeDefault = 0,
    cudaComputeModeExclusive = 1,
    cudaComputeModeProhibited = 2,
    cudaComputeModeExclusiveProcess = 3
} cudaComputeMode;

/** Preferred caches of a kernel; they make no difference here. */
typedef enum cudaFuncCache {
    cudaFuncCachePreferNone = 0,
    cudaFuncCachePreferShared = 1,
    cudaFuncCachePreferL1 = 2,
    cudaFuncCachePreferEqual = 3
} cudaFuncCache;

/** The width of a bank of shared memory; it makes no difference here. */
typedef enum cudaSharedMemConfig {
    cudaSharedMemBankSizeDefault = 0,
    cudaSharedMemBankSizeFourByte = 1,
    cudaSharedMemBankSizeEightByte = 2
} cudaSharedMemConfig;

/** Limits of the device: cudaDeviceSetLimit(). */
typedef enum cudaLimit {
    cudaLimitStackSize = 0,
    cudaLimitPrintfFifoSize = 1,
    cudaLimitMallocHeapSize = 2,
    cudaLimitDevRuntimeSyncDepth = 3,
    cudaLimitDevRuntimePendingLaunchCount = 4,
    cudaLimitMaxL2FetchGranularity = 5,
    cudaLimitPersistingL2CacheSize = 6
} cudaLimit;

/** Answer of cudaFuncGetAttributes(). */
typedef struct cudaFuncAttributes {
    size_t sharedSizeBytes; /**< of static shared memory: 0, known only when it runs */
    size_t constSizeBytes;  /**< 0 */
    size_t localSizeBytes;  /**< 0 */
    int maxThreadsPerBlock; /**< 1024 */
    int numRegs;            /**< registers of a thread: a guess, since no GPU's code is made */
    int ptxVersion;         /**< 80 */
    int binaryVersion;      /**< 80 */
    int cacheModeCA;        /**< 0 */
    int maxDynamicSharedSizeBytes; /**< what cudaFuncSetAttribute() has allowed */
    int preferredShmemCarveout;    /**< -1 */
} cudaFuncAttributes;

#define cudaStreamDefault 0x00u          /**< waits for the default stream, and it for this one */
#define cudaStreamNonBlocking 0x01u      /**< does not */
#define cudaEventDefault 0x00u           /**< an event with a time */
#define cudaEventBlockingSync 0x01u      /**< the same here */
#define cudaEventDisableTiming 0x02u     /**< an event without one */
#define cudaHostAllocDefault 0x00u       /**< pinned memory; kernels see each kind of it */
#define cudaHostAllocPortable 0x01u      /**< the same here */
#define cudaHostAllocMapped 0x02u        /**< the same here */
#define cudaHostAllocWriteCombined 0x04u /**< the same here */
#define cudaHostRegisterDefault 0x00u    /**< for cudaHostRegister() */
#define cudaHostRegisterPortable 0x01u   /**< the same here */
#define cudaHostRegisterMapped 0x02u     /**< the same here */
#define cudaMemAttachGlobal 0x01u        /**< managed memory: for all streams */
#define cudaMemAttachHost 0x02u          /**< the same here */
#define cudaMemAttachSingle 0x04u        /**< the same here */
#define cudaCpuDeviceId (-1)             /**< the host, for cudaMemPrefetchAsync() */
#define cudaInvalidDeviceId (-2)         /**< no device */
#define cudaEventInterprocess 0x04u      /**< the same here */
#define cudaDeviceScheduleAuto 0x00u     /**< how the host waits; no difference here */
#define cudaDeviceScheduleSpin 0x01u     /**< the same here */
#define cudaDeviceScheduleYield 0x02u    /**< the same here */
#define cudaDeviceScheduleBlockingSync 0x04u  /**< the same here */
#define cudaDeviceBlockingSync 0x04u          /**< its older name */
#define cudaDeviceMapHost 0x08u               /**< always so */
#define cudaInitDeviceFlagsAreValid 0x01u     /**< cudaInitDevice() is given flags */
#define cudaStreamPerThread ((cudaStream_t)2) /**< here the default stream */
#define CUDART_CB                             /**< calling convention of callbacks */

/** Called when a stream has come so far: cudaStreamAddCallback(). */
typedef void (*cudaStreamCallback_t)(cudaStream_t stream, cudaError_t status, void *data);
/** Called when a stream has come so far: cudaLaunchHostFunc(). */
typedef void (*cudaHostFn_t)(void *data);

/** Hints for managed memory; they make no difference here. */
typedef enum cudaMemoryAdvise {
    cudaMemAdviseSetReadMostly = 1,
    cudaMemAdviseUnsetReadMostly = 2,
    cudaMemAdviseSetPreferredLocation = 3,
    cudaMemAdviseUnsetPreferredLocation = 4,
    cudaMemAdviseSetAccessedBy = 5,
    cudaMemAdviseUnsetAccessedBy = 6
} cudaMemoryAdvise;

#endif
