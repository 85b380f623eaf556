/**
 * @file cudasim_unsupported.h
 * @brief Names of CUDA that are not simulated: each stops the compiler in plain words.
 * @ingroup cudasim
 *
 * Inline PTX that is not known is refused by cu2cpp, and what has a header of its own
 * (cuda/barrier, cuda/pipeline) by an `#error` in it; a launch within a kernel by cu2cpp, and by
 * `make lint`.
 */
#ifndef CUDASIM_UNSUPPORTED_H
#define CUDASIM_UNSUPPORTED_H

/** @cond */
#if __has_attribute(unavailable)
#define CUDASIM_NO(message) __attribute__((unavailable("cudasim: unsupported: " message)))
#else
#define CUDASIM_NO(message) __attribute__((error("cudasim: unsupported: " message)))
#endif

/* In all of them a pointer comes first. */
#ifdef __cplusplus
#define CUDASIM_NO_FUNCTION(name, message) extern "C" CUDASIM_NO(message) cudaError_t name(...);
#else
#define CUDASIM_NO_FUNCTION(name, message) CUDASIM_NO(message) cudaError_t name(const void *, ...);
#endif

#define CUDASIM_GRAPH_FORMS "this form; each kind of node has a function of its own"
CUDASIM_NO_FUNCTION(cudaGraphAddNode, CUDASIM_GRAPH_FORMS)
CUDASIM_NO_FUNCTION(cudaGraphNodeSetParams, CUDASIM_GRAPH_FORMS)
CUDASIM_NO_FUNCTION(cudaGraphExecNodeSetParams, CUDASIM_GRAPH_FORMS)
CUDASIM_NO_FUNCTION(cudaGraphInstantiateWithParams, CUDASIM_GRAPH_FORMS)
CUDASIM_NO_FUNCTION(cudaStreamBeginCaptureToGraph, "captures into a graph that exists")
CUDASIM_NO_FUNCTION(cudaStreamUpdateCaptureDependencies, "captures by hand; use events")
#define CUDASIM_GRAPH_MEMORY "memory that belongs to a graph; take it before"
CUDASIM_NO_FUNCTION(cudaGraphAddMemAllocNode, CUDASIM_GRAPH_MEMORY)
CUDASIM_NO_FUNCTION(cudaGraphAddMemFreeNode, CUDASIM_GRAPH_MEMORY)
CUDASIM_NO_FUNCTION(cudaGraphMemAllocNodeGetParams, CUDASIM_GRAPH_MEMORY)
CUDASIM_NO_FUNCTION(cudaGraphMemFreeNodeGetParams, CUDASIM_GRAPH_MEMORY)
CUDASIM_NO_FUNCTION(cudaDeviceGraphMemTrim, CUDASIM_GRAPH_MEMORY)
CUDASIM_NO_FUNCTION(cudaDeviceGetGraphMemAttribute, CUDASIM_GRAPH_MEMORY)
CUDASIM_NO_FUNCTION(cudaDeviceSetGraphMemAttribute, CUDASIM_GRAPH_MEMORY)
CUDASIM_NO_FUNCTION(cudaGraphConditionalHandleCreate, "graphs with conditions")

#define CUDASIM_GRAPH_SYMBOLS "copies of variables as nodes; take the address, or capture the copy"
CUDASIM_NO_FUNCTION(cudaGraphAddMemcpyNodeToSymbol, CUDASIM_GRAPH_SYMBOLS)
CUDASIM_NO_FUNCTION(cudaGraphAddMemcpyNodeFromSymbol, CUDASIM_GRAPH_SYMBOLS)
CUDASIM_NO_FUNCTION(cudaGraphMemcpyNodeSetParamsToSymbol, CUDASIM_GRAPH_SYMBOLS)
CUDASIM_NO_FUNCTION(cudaGraphMemcpyNodeSetParamsFromSymbol, CUDASIM_GRAPH_SYMBOLS)
CUDASIM_NO_FUNCTION(cudaGraphExecMemcpyNodeSetParamsToSymbol, CUDASIM_GRAPH_SYMBOLS)
CUDASIM_NO_FUNCTION(cudaGraphExecMemcpyNodeSetParamsFromSymbol, CUDASIM_GRAPH_SYMBOLS)
#define CUDASIM_GRAPH_QUESTIONS "this question to a node, or change of one; make the graph anew"
CUDASIM_NO_FUNCTION(cudaGraphNodeSetEnabled, CUDASIM_GRAPH_QUESTIONS)
CUDASIM_NO_FUNCTION(cudaGraphNodeGetEnabled, CUDASIM_GRAPH_QUESTIONS)
CUDASIM_NO_FUNCTION(cudaGraphHostNodeGetParams, CUDASIM_GRAPH_QUESTIONS)
CUDASIM_NO_FUNCTION(cudaGraphMemcpyNodeGetParams, CUDASIM_GRAPH_QUESTIONS)
CUDASIM_NO_FUNCTION(cudaGraphMemsetNodeGetParams, CUDASIM_GRAPH_QUESTIONS)
CUDASIM_NO_FUNCTION(cudaGraphEventRecordNodeGetEvent, CUDASIM_GRAPH_QUESTIONS)
CUDASIM_NO_FUNCTION(cudaGraphEventRecordNodeSetEvent, CUDASIM_GRAPH_QUESTIONS)
CUDASIM_NO_FUNCTION(cudaGraphEventWaitNodeGetEvent, CUDASIM_GRAPH_QUESTIONS)
CUDASIM_NO_FUNCTION(cudaGraphEventWaitNodeSetEvent, CUDASIM_GRAPH_QUESTIONS)
CUDASIM_NO_FUNCTION(cudaGraphExecEventRecordNodeSetEvent, CUDASIM_GRAPH_QUESTIONS)
CUDASIM_NO_FUNCTION(cudaGraphExecEventWaitNodeSetEvent, CUDASIM_GRAPH_QUESTIONS)
CUDASIM_NO_FUNCTION(cudaGraphExecChildGraphNodeSetParams, CUDASIM_GRAPH_QUESTIONS)
CUDASIM_NO_FUNCTION(cudaGraphExecGetFlags, CUDASIM_GRAPH_QUESTIONS)
CUDASIM_NO_FUNCTION(cudaGraphKernelNodeCopyAttributes, CUDASIM_GRAPH_QUESTIONS)
CUDASIM_NO_FUNCTION(cudaGraphKernelNodeGetAttribute, CUDASIM_GRAPH_QUESTIONS)
CUDASIM_NO_FUNCTION(cudaGraphKernelNodeSetAttribute, CUDASIM_GRAPH_QUESTIONS)
#define CUDASIM_USER_OBJECTS "objects that belong to a graph; release them after the graph"
typedef struct CUuserObject_st *cudaUserObject_t CUDASIM_NO(CUDASIM_USER_OBJECTS);
enum { cudaUserObjectNoDestructorSync = 1, cudaGraphUserObjectMove = 1 };
CUDASIM_NO_FUNCTION(cudaUserObjectCreate, CUDASIM_USER_OBJECTS)
CUDASIM_NO_FUNCTION(cudaUserObjectRetain, CUDASIM_USER_OBJECTS)
CUDASIM_NO_FUNCTION(cudaUserObjectRelease, CUDASIM_USER_OBJECTS)
CUDASIM_NO_FUNCTION(cudaGraphRetainUserObject, CUDASIM_USER_OBJECTS)
CUDASIM_NO_FUNCTION(cudaGraphReleaseUserObject, CUDASIM_USER_OBJECTS)

#define CUDASIM_TEXTURES "textures and surfaces; read global memory"
typedef unsigned long long cudaTextureObject_t CUDASIM_NO(CUDASIM_TEXTURES);
typedef unsigned long long cudaSurfaceObject_t CUDASIM_NO(CUDASIM_TEXTURES);
typedef struct cudaArray *cudaArray_t CUDASIM_NO(CUDASIM_TEXTURES);
typedef struct cudaMipmappedArray *cudaMipmappedArray_t CUDASIM_NO(CUDASIM_TEXTURES);
#define CUDASIM_PROCESSES "memory and events of other processes"
typedef int cudaIpcMemHandle_t CUDASIM_NO(CUDASIM_PROCESSES);
typedef int cudaMemPoolPtrExportData CUDASIM_NO(CUDASIM_PROCESSES);
typedef int cudaIpcEventHandle_t CUDASIM_NO(CUDASIM_PROCESSES);
CUDASIM_NO_FUNCTION(cudaMallocArray, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaCreateTextureObject, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaCreateSurfaceObject, CUDASIM_TEXTURES)
typedef const struct cudaArray *cudaArray_const_t CUDASIM_NO(CUDASIM_TEXTURES);
typedef const struct cudaMipmappedArray *cudaMipmappedArray_const_t CUDASIM_NO(CUDASIM_TEXTURES);
CUDASIM_NO_FUNCTION(cudaMalloc3DArray, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaMallocMipmappedArray, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaFreeArray, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaFreeMipmappedArray, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaGetMipmappedArrayLevel, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaArrayGetInfo, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaArrayGetPlane, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaArrayGetMemoryRequirements, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaArrayGetSparseProperties, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaMipmappedArrayGetMemoryRequirements, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaMipmappedArrayGetSparseProperties, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaGetChannelDesc, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaDestroyTextureObject, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaDestroySurfaceObject, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaGetTextureObjectResourceDesc, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaGetTextureObjectResourceViewDesc, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaGetTextureObjectTextureDesc, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaGetSurfaceObjectResourceDesc, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaDeviceGetTexture1DLinearMaxWidth, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaMemcpyToArray, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaMemcpyToArrayAsync, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaMemcpyFromArray, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaMemcpyFromArrayAsync, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaMemcpyArrayToArray, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaMemcpy2DToArray, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaMemcpy2DToArrayAsync, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaMemcpy2DFromArray, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaMemcpy2DFromArrayAsync, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaMemcpy2DArrayToArray, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaIpcGetMemHandle, CUDASIM_PROCESSES)
CUDASIM_NO_FUNCTION(cudaIpcOpenMemHandle, CUDASIM_PROCESSES)
CUDASIM_NO_FUNCTION(cudaIpcCloseMemHandle, CUDASIM_PROCESSES)
CUDASIM_NO_FUNCTION(cudaIpcGetEventHandle, CUDASIM_PROCESSES)
CUDASIM_NO_FUNCTION(cudaIpcOpenEventHandle, CUDASIM_PROCESSES)
CUDASIM_NO_FUNCTION(cudaMemPoolExportPointer, CUDASIM_PROCESSES)
CUDASIM_NO_FUNCTION(cudaMemPoolImportPointer, CUDASIM_PROCESSES)
CUDASIM_NO_FUNCTION(cudaMemPoolExportToShareableHandle, CUDASIM_PROCESSES)
CUDASIM_NO_FUNCTION(cudaMemPoolImportFromShareableHandle, CUDASIM_PROCESSES)
#define CUDASIM_EXTERNAL "memory and semaphores of Vulkan, Direct3D and OpenGL"
typedef struct CUexternalMemory_st *cudaExternalMemory_t CUDASIM_NO(CUDASIM_EXTERNAL);
typedef struct CUexternalSemaphore_st *cudaExternalSemaphore_t CUDASIM_NO(CUDASIM_EXTERNAL);
typedef struct cudaGraphicsResource *cudaGraphicsResource_t CUDASIM_NO(CUDASIM_EXTERNAL);
CUDASIM_NO_FUNCTION(cudaImportExternalMemory, CUDASIM_EXTERNAL)
CUDASIM_NO_FUNCTION(cudaDestroyExternalMemory, CUDASIM_EXTERNAL)
CUDASIM_NO_FUNCTION(cudaExternalMemoryGetMappedBuffer, CUDASIM_EXTERNAL)
CUDASIM_NO_FUNCTION(cudaExternalMemoryGetMappedMipmappedArray, CUDASIM_EXTERNAL)
CUDASIM_NO_FUNCTION(cudaImportExternalSemaphore, CUDASIM_EXTERNAL)
CUDASIM_NO_FUNCTION(cudaDestroyExternalSemaphore, CUDASIM_EXTERNAL)
CUDASIM_NO_FUNCTION(cudaSignalExternalSemaphoresAsync, CUDASIM_EXTERNAL)
CUDASIM_NO_FUNCTION(cudaWaitExternalSemaphoresAsync, CUDASIM_EXTERNAL)
CUDASIM_NO_FUNCTION(cudaGraphAddExternalSemaphoresSignalNode, CUDASIM_EXTERNAL)
CUDASIM_NO_FUNCTION(cudaGraphAddExternalSemaphoresWaitNode, CUDASIM_EXTERNAL)
CUDASIM_NO_FUNCTION(cudaGraphicsMapResources, CUDASIM_EXTERNAL)
CUDASIM_NO_FUNCTION(cudaGraphicsUnmapResources, CUDASIM_EXTERNAL)
CUDASIM_NO_FUNCTION(cudaGraphicsUnregisterResource, CUDASIM_EXTERNAL)
CUDASIM_NO_FUNCTION(cudaGraphicsResourceSetMapFlags, CUDASIM_EXTERNAL)
CUDASIM_NO_FUNCTION(cudaGraphicsResourceGetMappedPointer, CUDASIM_EXTERNAL)
CUDASIM_NO_FUNCTION(cudaGraphicsResourceGetMappedMipmappedArray, CUDASIM_EXTERNAL)
CUDASIM_NO_FUNCTION(cudaGraphicsSubResourceGetMappedArray, CUDASIM_EXTERNAL)
#define CUDASIM_MODULES "code that is loaded while the program runs"
typedef struct CUlib_st *cudaLibrary_t CUDASIM_NO(CUDASIM_MODULES);
typedef struct CUkern_st *cudaKernel_t CUDASIM_NO(CUDASIM_MODULES);
CUDASIM_NO_FUNCTION(cudaLibraryLoadData, CUDASIM_MODULES)
CUDASIM_NO_FUNCTION(cudaLibraryLoadFromFile, CUDASIM_MODULES)
CUDASIM_NO_FUNCTION(cudaLibraryUnload, CUDASIM_MODULES)
CUDASIM_NO_FUNCTION(cudaLibraryGetKernel, CUDASIM_MODULES)
CUDASIM_NO_FUNCTION(cudaLibraryGetGlobal, CUDASIM_MODULES)
CUDASIM_NO_FUNCTION(cudaLibraryGetManaged, CUDASIM_MODULES)
CUDASIM_NO_FUNCTION(cudaLibraryGetUnifiedFunction, CUDASIM_MODULES)
CUDASIM_NO_FUNCTION(cudaLibraryGetKernelCount, CUDASIM_MODULES)
CUDASIM_NO_FUNCTION(cudaLibraryEnumerateKernels, CUDASIM_MODULES)
CUDASIM_NO_FUNCTION(cudaKernelSetAttributeForDevice, CUDASIM_MODULES)
CUDASIM_NO_FUNCTION(cudaGetKernel, CUDASIM_MODULES)
CUDASIM_NO_FUNCTION(cudaGetFuncBySymbol, CUDASIM_MODULES)
CUDASIM_NO_FUNCTION(cudaFuncGetParamInfo, CUDASIM_MODULES)
CUDASIM_NO_FUNCTION(cudaGetDriverEntryPoint, CUDASIM_MODULES)
CUDASIM_NO_FUNCTION(cudaGetDriverEntryPointByVersion, CUDASIM_MODULES)
CUDASIM_NO_FUNCTION(cudaGetExportTable, CUDASIM_MODULES)
#define CUDASIM_BATCHES "copies and prefetches in batches; call for each"
CUDASIM_NO_FUNCTION(cudaMemcpyBatchAsync, CUDASIM_BATCHES)
CUDASIM_NO_FUNCTION(cudaMemcpy3DBatchAsync, CUDASIM_BATCHES)
CUDASIM_NO_FUNCTION(cudaMemPrefetchBatchAsync, CUDASIM_BATCHES)
CUDASIM_NO_FUNCTION(cudaMemDiscardBatchAsync, CUDASIM_BATCHES)
CUDASIM_NO_FUNCTION(cudaMemDiscardAndPrefetchBatchAsync, CUDASIM_BATCHES)
#define CUDASIM_ADVICE "questions about managed memory, whose advice changes nothing here"
typedef enum cudaMemRangeAttribute {
    cudaMemRangeAttributeReadMostly = 1,
    cudaMemRangeAttributePreferredLocation = 2,
    cudaMemRangeAttributeAccessedBy = 3,
    cudaMemRangeAttributeLastPrefetchLocation = 4
} cudaMemRangeAttribute;
CUDASIM_NO_FUNCTION(cudaMemRangeGetAttribute, CUDASIM_ADVICE)
CUDASIM_NO_FUNCTION(cudaMemRangeGetAttributes, CUDASIM_ADVICE)
CUDASIM_NO_FUNCTION(cudaMemcpy3DPeer, "copies in slices between devices; use cudaMemcpyPeer")
CUDASIM_NO_FUNCTION(cudaMemcpy3DPeerAsync, "copies in slices between devices; use cudaMemcpyPeer")
CUDASIM_NO_FUNCTION(cudaMemGetDefaultMemPool, "pools by place; use cudaDeviceGetMemPool")
CUDASIM_NO_FUNCTION(cudaMemGetMemPool, "pools by place; use cudaDeviceGetMemPool")
CUDASIM_NO_FUNCTION(cudaMemSetMemPool, "pools by place; use cudaDeviceGetMemPool")
#define CUDASIM_CLUSTERS "clusters of blocks, which a device of compute capability 8.0 has not"
#define __cluster_dims__(...) CUDASIM_NO(CUDASIM_CLUSTERS)
CUDASIM_NO_FUNCTION(cudaOccupancyMaxActiveClusters, CUDASIM_CLUSTERS)
CUDASIM_NO_FUNCTION(cudaOccupancyMaxPotentialClusterSize, CUDASIM_CLUSTERS)
#define CUDASIM_DRIVER_QUESTIONS "questions about the driver"
CUDASIM_NO_FUNCTION(cudaDeviceFlushGPUDirectRDMAWrites, CUDASIM_DRIVER_QUESTIONS)
CUDASIM_NO_FUNCTION(cudaDeviceGetNvSciSyncAttributes, CUDASIM_DRIVER_QUESTIONS)
CUDASIM_NO_FUNCTION(cudaDeviceGetHostAtomicCapabilities, CUDASIM_DRIVER_QUESTIONS)
CUDASIM_NO_FUNCTION(cudaDeviceGetP2PAtomicCapabilities, CUDASIM_DRIVER_QUESTIONS)
CUDASIM_NO_FUNCTION(cudaDeviceRegisterAsyncNotification, CUDASIM_DRIVER_QUESTIONS)
CUDASIM_NO_FUNCTION(cudaDeviceUnregisterAsyncNotification, CUDASIM_DRIVER_QUESTIONS)
CUDASIM_NO_FUNCTION(cudaLogsRegisterCallback, CUDASIM_DRIVER_QUESTIONS)
CUDASIM_NO_FUNCTION(cudaLogsUnregisterCallback, CUDASIM_DRIVER_QUESTIONS)
CUDASIM_NO_FUNCTION(cudaLogsCurrent, CUDASIM_DRIVER_QUESTIONS)
CUDASIM_NO_FUNCTION(cudaLogsDumpToFile, CUDASIM_DRIVER_QUESTIONS)
CUDASIM_NO_FUNCTION(cudaLogsDumpToMemory, CUDASIM_DRIVER_QUESTIONS)
CUDASIM_NO_FUNCTION(cudaSetValidDevices, "a choice among devices by a list; use cudaSetDevice")

CUDASIM_NO_FUNCTION(cudaLaunchCooperativeKernelMultiDevice, "barriers over several devices")

#ifdef __cplusplus
enum { cudaReadModeElementType, cudaReadModeNormalizedFloat };
#define CUDASIM_NO_TYPE(name, message)                                                             \
    struct name {                                                                                  \
        CUDASIM_NO(message) name();                                                                \
    };
CUDASIM_NO_TYPE(cudaChannelFormatDesc, CUDASIM_TEXTURES)
CUDASIM_NO_TYPE(cudaResourceDesc, CUDASIM_TEXTURES)
CUDASIM_NO_TYPE(cudaTextureDesc, CUDASIM_TEXTURES)
template <class Type, int dimensions = 1, int mode = 0>
CUDASIM_NO_TYPE(texture, CUDASIM_TEXTURES)
template <class Type, int dimensions = 1>
CUDASIM_NO_TYPE(surface, CUDASIM_TEXTURES)
#define CUDASIM_FETCH(name)                                                                        \
    template <class Type, class... Parameters>                                                     \
    CUDASIM_NO(CUDASIM_TEXTURES)                                                                   \
    Type name(Parameters...);
CUDASIM_FETCH(tex1Dfetch) CUDASIM_FETCH(tex1D) CUDASIM_FETCH(tex2D)
    CUDASIM_FETCH(tex3D) template <class Type>
    CUDASIM_NO(CUDASIM_TEXTURES)
    cudaChannelFormatDesc cudaCreateChannelDesc();
template <class... Values>
CUDASIM_NO(CUDASIM_TEXTURES)
cudaChannelFormatDesc cudaCreateChannelDesc(Values...);

#define CUDASIM_NO_INTRINSIC(name, message)                                                        \
    template <class... Values> CUDASIM_NO(message) int name(Values...);
/* clang-format off */
/* Out of CUDA since its version 9. */
CUDASIM_NO_INTRINSIC(__shfl, "this old form; use __shfl_sync(mask, ...)")
CUDASIM_NO_INTRINSIC(__shfl_up, "this old form; use __shfl_up_sync(mask, ...)")
CUDASIM_NO_INTRINSIC(__shfl_down, "this old form; use __shfl_down_sync(mask, ...)")
CUDASIM_NO_INTRINSIC(__shfl_xor, "this old form; use __shfl_xor_sync(mask, ...)")
CUDASIM_NO_INTRINSIC(__ballot, "this old form; use __ballot_sync(mask, predicate)")
CUDASIM_NO_INTRINSIC(__any, "this old form; use __any_sync(mask, predicate)")
CUDASIM_NO_INTRINSIC(__all, "this old form; use __all_sync(mask, predicate)")
CUDASIM_NO_INTRINSIC(__brkpt, "breakpoints in code; set one in gdb, after make cu with DEBUG=1")
CUDASIM_NO_INTRINSIC(__barrier_sync, "barriers with a number; use __syncthreads()")
CUDASIM_NO_INTRINSIC(__barrier_sync_count, "barriers with a number; use __syncthreads()")
CUDASIM_NO_INTRINSIC(__clusterDim, CUDASIM_CLUSTERS)
CUDASIM_NO_INTRINSIC(__clusterDimIsSpecified, CUDASIM_CLUSTERS)
CUDASIM_NO_INTRINSIC(__clusterGridDimInClusters, CUDASIM_CLUSTERS)
CUDASIM_NO_INTRINSIC(__clusterIdx, CUDASIM_CLUSTERS)
CUDASIM_NO_INTRINSIC(__clusterRelativeBlockIdx, CUDASIM_CLUSTERS)
CUDASIM_NO_INTRINSIC(__clusterRelativeBlockRank, CUDASIM_CLUSTERS)
CUDASIM_NO_INTRINSIC(__clusterSizeInBlocks, CUDASIM_CLUSTERS)
CUDASIM_NO_INTRINSIC(__cluster_barrier_arrive, CUDASIM_CLUSTERS)
CUDASIM_NO_INTRINSIC(__cluster_barrier_arrive_relaxed, CUDASIM_CLUSTERS)
CUDASIM_NO_INTRINSIC(__cluster_barrier_wait, CUDASIM_CLUSTERS)
CUDASIM_NO_INTRINSIC(__cluster_map_shared_rank, CUDASIM_CLUSTERS)
CUDASIM_NO_INTRINSIC(__cluster_map_shared_multicast, CUDASIM_CLUSTERS)
CUDASIM_NO_INTRINSIC(__cluster_query_shared_rank, CUDASIM_CLUSTERS)
CUDASIM_NO_INTRINSIC(__isClusterShared, CUDASIM_CLUSTERS)
CUDASIM_NO_INTRINSIC(__threadfence_cluster, CUDASIM_CLUSTERS)
#define CUDASIM_ARRIVALS "barriers in shared memory that threads arrive at; use __syncthreads()"
typedef unsigned long long __mbarrier_t CUDASIM_NO(CUDASIM_ARRIVALS);
typedef unsigned long long __mbarrier_token_t CUDASIM_NO(CUDASIM_ARRIVALS);
CUDASIM_NO_INTRINSIC(__mbarrier_init, CUDASIM_ARRIVALS)
CUDASIM_NO_INTRINSIC(__mbarrier_inval, CUDASIM_ARRIVALS)
CUDASIM_NO_INTRINSIC(__mbarrier_arrive, CUDASIM_ARRIVALS)
CUDASIM_NO_INTRINSIC(__mbarrier_arrive_and_drop, CUDASIM_ARRIVALS)
CUDASIM_NO_INTRINSIC(__mbarrier_test_wait, CUDASIM_ARRIVALS)
CUDASIM_NO_INTRINSIC(__mbarrier_test_wait_parity, CUDASIM_ARRIVALS)
CUDASIM_NO_INTRINSIC(__mbarrier_try_wait, CUDASIM_ARRIVALS)
CUDASIM_NO_INTRINSIC(__mbarrier_try_wait_parity, CUDASIM_ARRIVALS)
CUDASIM_NO_INTRINSIC(__mbarrier_maximum_count, CUDASIM_ARRIVALS)
CUDASIM_NO_INTRINSIC(__mbarrier_token_pending_count, CUDASIM_ARRIVALS)
#define CUDASIM_LAUNCH_IN_KERNEL "dynamic parallelism: launches in a kernel"
CUDASIM_NO_INTRINSIC(cudaGetParameterBuffer, CUDASIM_LAUNCH_IN_KERNEL)
CUDASIM_NO_INTRINSIC(cudaLaunchDevice, CUDASIM_LAUNCH_IN_KERNEL)
CUDASIM_NO_INTRINSIC(cudaGetCurrentGraphExec, CUDASIM_LAUNCH_IN_KERNEL)
CUDASIM_NO_INTRINSIC(cudaGraphSetConditional, CUDASIM_LAUNCH_IN_KERNEL)
CUDASIM_NO_INTRINSIC(cudaGraphKernelNodeSetEnabled, CUDASIM_LAUNCH_IN_KERNEL)
CUDASIM_NO_INTRINSIC(cudaGraphKernelNodeSetGridDim, CUDASIM_LAUNCH_IN_KERNEL)
CUDASIM_NO_INTRINSIC(cudaGraphKernelNodeSetParam, CUDASIM_LAUNCH_IN_KERNEL)
CUDASIM_NO_INTRINSIC(cudaGraphKernelNodeUpdatesApply, CUDASIM_LAUNCH_IN_KERNEL)
CUDASIM_NO_INTRINSIC(cudaGridDependencySynchronize, CUDASIM_LAUNCH_IN_KERNEL)
CUDASIM_NO_INTRINSIC(cudaTriggerProgrammaticLaunchCompletion, CUDASIM_LAUNCH_IN_KERNEL)
/* clang-format on */
#endif
/** @endcond */

#endif
