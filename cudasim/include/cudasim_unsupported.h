/**
 * @file cudasim_unsupported.h
 * @brief Names of CUDA that are not simulated: each stops the compiler in plain words.
 * @ingroup cudasim
 *
 * Inline PTX is refused by cu2cpp, and what has a header of its own (mma.h,
 * cooperative_groups.h, ...) by an `#error` in it. A launch within a kernel is found by `make
 * lint`.
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

#define CUDASIM_GRAPHS "CUDA graphs; launch the kernels one by one"
typedef struct CUgraph_st *cudaGraph_t CUDASIM_NO(CUDASIM_GRAPHS);
typedef struct CUgraphExec_st *cudaGraphExec_t CUDASIM_NO(CUDASIM_GRAPHS);
typedef struct CUgraphNode_st *cudaGraphNode_t CUDASIM_NO(CUDASIM_GRAPHS);
CUDASIM_NO_FUNCTION(cudaStreamBeginCapture, CUDASIM_GRAPHS)
CUDASIM_NO_FUNCTION(cudaStreamEndCapture, CUDASIM_GRAPHS)
CUDASIM_NO_FUNCTION(cudaGraphCreate, CUDASIM_GRAPHS)
CUDASIM_NO_FUNCTION(cudaGraphDestroy, CUDASIM_GRAPHS)
CUDASIM_NO_FUNCTION(cudaGraphInstantiate, CUDASIM_GRAPHS)
CUDASIM_NO_FUNCTION(cudaGraphLaunch, CUDASIM_GRAPHS)
CUDASIM_NO_FUNCTION(cudaGraphExecDestroy, CUDASIM_GRAPHS)
enum {
    cudaStreamCaptureModeGlobal CUDASIM_NO(CUDASIM_GRAPHS) = 0,
    cudaStreamCaptureModeThreadLocal CUDASIM_NO(CUDASIM_GRAPHS) = 1,
    cudaStreamCaptureModeRelaxed CUDASIM_NO(CUDASIM_GRAPHS) = 2
};

#define CUDASIM_TEXTURES "textures and surfaces; read global memory"
typedef unsigned long long cudaTextureObject_t CUDASIM_NO(CUDASIM_TEXTURES);
typedef unsigned long long cudaSurfaceObject_t CUDASIM_NO(CUDASIM_TEXTURES);
typedef struct cudaArray *cudaArray_t CUDASIM_NO(CUDASIM_TEXTURES);
CUDASIM_NO_FUNCTION(cudaMallocArray, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaCreateTextureObject, CUDASIM_TEXTURES)
CUDASIM_NO_FUNCTION(cudaCreateSurfaceObject, CUDASIM_TEXTURES)

#define CUDASIM_LAUNCHES "launches with attributes; write kernel<<<grid, block>>>(arguments)"
CUDASIM_NO_FUNCTION(cudaLaunchKernelEx, CUDASIM_LAUNCHES)
CUDASIM_NO_FUNCTION(cudaLaunchKernelExC, CUDASIM_LAUNCHES)
CUDASIM_NO_FUNCTION(cudaLaunchCooperativeKernelMultiDevice, "barriers over several devices")

#ifdef __cplusplus
#define CUDASIM_FETCH(name)                                                                        \
    template <class T, class... P> CUDASIM_NO(CUDASIM_TEXTURES) T name(P...);
CUDASIM_FETCH(tex1Dfetch)
CUDASIM_FETCH(tex1D)
CUDASIM_FETCH(tex2D)
CUDASIM_FETCH(tex3D)
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
