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
CUDASIM_NO_FUNCTION(cudaGraphConditionalHandleCreate, "graphs with conditions")

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
template <class T, int dimensions = 1, int mode = 0>
CUDASIM_NO_TYPE(texture, CUDASIM_TEXTURES)
template <class T, int dimensions = 1>
CUDASIM_NO_TYPE(surface, CUDASIM_TEXTURES)
#define CUDASIM_FETCH(name)                                                                        \
    template <class T, class... P> CUDASIM_NO(CUDASIM_TEXTURES) T name(P...);
CUDASIM_FETCH(tex1Dfetch) CUDASIM_FETCH(tex1D) CUDASIM_FETCH(tex2D) CUDASIM_FETCH(tex3D)
/* Out of CUDA since its version 9. */
#define CUDASIM_OLD(name, now)                                                                     \
    template <class... T> CUDASIM_NO("this old form; use " now) int name(T...);
    CUDASIM_OLD(__shfl, "__shfl_sync(mask, ...)")
        CUDASIM_OLD(__shfl_up, "__shfl_up_sync(mask, ...)")
            CUDASIM_OLD(__shfl_down, "__shfl_down_sync(mask, ...)")
                CUDASIM_OLD(__shfl_xor, "__shfl_xor_sync(mask, ...)")
                    CUDASIM_OLD(__ballot, "__ballot_sync(mask, predicate)")
                        CUDASIM_OLD(__any, "__any_sync(mask, predicate)")
                            CUDASIM_OLD(__all, "__all_sync(mask, predicate)")
#endif
/** @endcond */

#endif
