/**
 * @file cuda_runtime.h
 * @brief The CUDA runtime as cudasim offers it: host functions for C and C++, kernels for C++.
 * @ingroup cudasim
 *
 * It stands in for NVIDIA's header of the same name. What a program may use is declared here or in
 * cudasim_kernel.h; the meaning is CUDA's, so only what differs is said. The functions are macros
 * that add file and line, because a report names the line of the call.
 */
#ifndef CUDASIM_CUDA_RUNTIME_H
#define CUDASIM_CUDA_RUNTIME_H

/** Defined by the simulator and by nothing else. */
#define CUDASIM 1
/** The version of CUDA whose interface this is: 12.4. */
#define CUDART_VERSION 12040

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** @cond */
#ifdef __cplusplus
#define CUDASIM_DEFAULT(value) = value
#else
#define CUDASIM_DEFAULT(value)
#endif
#define CUDASIM_HERE __FILE__, __LINE__
#define CUDASIM_PLACE const char *file, int line
/** @endcond */

/* ---- vector types ---------------------------------------------------------------------------- */

/** @cond */
#define __align__(n) __attribute__((aligned(n)))
#define CUDASIM_VECTORS(T, name)                                                                   \
    typedef struct name##1 {                                                                       \
        T x;                                                                                       \
    }                                                                                              \
    name##1;                                                                                       \
    typedef struct __align__(2 * sizeof(T)) name##2 {                                              \
        T x, y;                                                                                    \
    }                                                                                              \
    name##2;                                                                                       \
    typedef struct name##3 {                                                                       \
        T x, y, z;                                                                                 \
    }                                                                                              \
    name##3;                                                                                       \
    typedef struct __align__(sizeof(T) < 8 ? 4 * sizeof(T) : 16) name##4 {                         \
        T x, y, z, w;                                                                              \
    }                                                                                              \
    name##4;                                                                                       \
    __attribute__((unused)) static inline name##1 make_##name##1(T x) {                            \
        name##1 v = {x};                                                                           \
        return v;                                                                                  \
    }                                                                                              \
    __attribute__((unused)) static inline name##2 make_##name##2(T x, T y) {                       \
        name##2 v = {x, y};                                                                        \
        return v;                                                                                  \
    }                                                                                              \
    __attribute__((unused)) static inline name##3 make_##name##3(T x, T y, T z) {                  \
        name##3 v = {x, y, z};                                                                     \
        return v;                                                                                  \
    }                                                                                              \
    __attribute__((unused)) static inline name##4 make_##name##4(T x, T y, T z, T w) {             \
        name##4 v = {x, y, z, w};                                                                  \
        return v;                                                                                  \
    }
#ifdef CUDASIM_LINT
#pragma clang force_cuda_host_device begin
#endif
CUDASIM_VECTORS(signed char, char)
CUDASIM_VECTORS(unsigned char, uchar)
CUDASIM_VECTORS(short, short)
CUDASIM_VECTORS(unsigned short, ushort)
CUDASIM_VECTORS(int, int)
CUDASIM_VECTORS(unsigned, uint)
CUDASIM_VECTORS(long long, longlong)
CUDASIM_VECTORS(unsigned long long, ulonglong)
CUDASIM_VECTORS(float, float)
CUDASIM_VECTORS(double, double)
/** @endcond */

/** A size in three dimensions; those left out are 1. */
typedef struct dim3 {
    unsigned x; /**< fastest dimension */
    unsigned y; /**< second */
    unsigned z; /**< slowest */
#ifdef __cplusplus
    /** @cond */
    constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {
    }
    constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {
    }
    /** @endcond */
#endif
} dim3;
#ifdef CUDASIM_LINT
#pragma clang force_cuda_host_device end
#endif

/* ---- host types ------------------------------------------------------------------------------ */

/** The outcome of a call. The numbers are CUDA's. */
typedef enum cudaError {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorInvalidMemcpyDirection = 21,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600,
    cudaErrorIllegalAddress = 700,
    cudaErrorLaunchFailure = 719,
    cudaErrorNotSupported = 801
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

/** The properties of the device. */
typedef struct cudaDeviceProp {
    char name[256];                    /**< "cudasim (not a GPU)" */
    size_t totalGlobalMem;             /**< bytes */
    size_t sharedMemPerBlock;          /**< bytes without asking for more */
    size_t sharedMemPerBlockOptin;     /**< bytes after cudaFuncSetAttribute() */
    size_t sharedMemPerMultiprocessor; /**< bytes */
    size_t totalConstMem;              /**< bytes */
    int regsPerBlock;                  /**< 32-bit registers */
    int warpSize;                      /**< 32 */
    int maxThreadsPerBlock;            /**< 1024 */
    int maxThreadsDim[3];              /**< by dimension of a block */
    int maxGridSize[3];                /**< by dimension of a grid */
    int major;                         /**< compute capability */
    int minor;                         /**< compute capability */
    int multiProcessorCount;           /**< a small GPU's */
    int maxThreadsPerMultiProcessor;   /**< a small GPU's */
    int l2CacheSize;                   /**< bytes */
    int memoryBusWidth;                /**< bits */
    int concurrentKernels;             /**< 1 */
    int integrated;                    /**< 0 */
} cudaDeviceProp;

/** The attributes that cudaFuncSetAttribute() sets. */
typedef enum cudaFuncAttribute {
    cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9
} cudaFuncAttribute;

/** The attributes that cudaDeviceGetAttribute() gives. */
typedef enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1,
    cudaDevAttrMaxSharedMemoryPerBlock = 8,
    cudaDevAttrWarpSize = 10,
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
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
    cudaMemoryTypeDevice
} cudaMemoryType;

/** Answer of cudaPointerGetAttributes(). */
typedef struct cudaPointerAttributes {
    cudaMemoryType type; /**< which memory */
    int device;          /**< 0 */
    void *devicePointer; /**< as a kernel sees it, or NULL */
    void *hostPointer;   /**< as the host sees it, or NULL */
} cudaPointerAttributes;

#define cudaStreamDefault 0x00u      /**< waits for the default stream, and it for this one */
#define cudaStreamNonBlocking 0x01u  /**< does not */
#define cudaEventDefault 0x00u       /**< an event with a time */
#define cudaEventBlockingSync 0x01u  /**< the same here */
#define cudaEventDisableTiming 0x02u /**< an event without one */
#define cudaHostAllocDefault 0x00u   /**< the only kind of pinned memory here */

/* ---- host functions -------------------------------------------------------------------------- */

#ifdef __cplusplus
extern "C" {
#endif
/** @cond */
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorString(cudaError_t error);
const char *cudaGetErrorName(cudaError_t error);

cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int device);
cudaError_t cudaDriverGetVersion(int *version);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *p);

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep_bytes);

cudaError_t cudasim_malloc(CUDASIM_PLACE, void **p, size_t bytes);
cudaError_t cudasim_free(CUDASIM_PLACE, void *p);
cudaError_t cudasim_malloc_host(CUDASIM_PLACE, void **p, size_t bytes);
cudaError_t cudasim_free_host(CUDASIM_PLACE, void *p);
cudaError_t cudasim_malloc_async(CUDASIM_PLACE, void **p, size_t bytes, cudaStream_t stream);
cudaError_t cudasim_free_async(CUDASIM_PLACE, void *p, cudaStream_t stream);

cudaError_t cudasim_memcpy(CUDASIM_PLACE, void *to, const void *from, size_t bytes,
                           cudaMemcpyKind kind);
cudaError_t cudasim_memcpy_async(CUDASIM_PLACE, void *to, const void *from, size_t bytes,
                                 cudaMemcpyKind kind, cudaStream_t stream CUDASIM_DEFAULT(0));
cudaError_t cudasim_memcpy_2d(CUDASIM_PLACE, void *to, size_t to_pitch, const void *from,
                              size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind);
cudaError_t cudasim_memset(CUDASIM_PLACE, void *to, int value, size_t bytes);
cudaError_t cudasim_memset_async(CUDASIM_PLACE, void *to, int value, size_t bytes,
                                 cudaStream_t stream CUDASIM_DEFAULT(0));

cudaError_t cudasim_stream_create(CUDASIM_PLACE, cudaStream_t *stream,
                                  unsigned flags CUDASIM_DEFAULT(0));
cudaError_t cudasim_stream_destroy(CUDASIM_PLACE, cudaStream_t stream);
cudaError_t cudasim_stream_synchronize(CUDASIM_PLACE, cudaStream_t stream);
cudaError_t cudasim_stream_query(CUDASIM_PLACE, cudaStream_t stream);
cudaError_t cudasim_stream_wait_event(CUDASIM_PLACE, cudaStream_t stream, cudaEvent_t event,
                                      unsigned flags CUDASIM_DEFAULT(0));
cudaError_t cudasim_event_create(CUDASIM_PLACE, cudaEvent_t *event,
                                 unsigned flags CUDASIM_DEFAULT(0));
cudaError_t cudasim_event_destroy(CUDASIM_PLACE, cudaEvent_t event);
cudaError_t cudasim_event_record(CUDASIM_PLACE, cudaEvent_t event,
                                 cudaStream_t stream CUDASIM_DEFAULT(0));
cudaError_t cudasim_event_synchronize(CUDASIM_PLACE, cudaEvent_t event);
cudaError_t cudasim_event_query(CUDASIM_PLACE, cudaEvent_t event);
cudaError_t cudasim_event_elapsed_time(CUDASIM_PLACE, float *ms, cudaEvent_t from, cudaEvent_t to);
cudaError_t cudasim_device_synchronize(CUDASIM_PLACE);
cudaError_t cudasim_device_reset(CUDASIM_PLACE);
cudaError_t cudasim_func_set_attribute(CUDASIM_PLACE, const void *kernel,
                                       cudaFuncAttribute attribute, int value);
cudaError_t cudasim_memcpy_symbol(CUDASIM_PLACE, void *to, const void *from, size_t bytes,
                                  size_t room, const char *name);
/** @endcond */
#ifdef __cplusplus
}
#endif

/** @cond */
#define cudaMalloc(p, bytes) cudasim_malloc(CUDASIM_HERE, (void **)(p), (bytes))
#define cudaFree(p) cudasim_free(CUDASIM_HERE, (void *)(p))
#define cudaMallocHost(p, bytes) cudasim_malloc_host(CUDASIM_HERE, (void **)(p), (bytes))
#define cudaHostAlloc(p, bytes, flags) cudasim_malloc_host(CUDASIM_HERE, (void **)(p), (bytes))
#define cudaFreeHost(p) cudasim_free_host(CUDASIM_HERE, (void *)(p))
#define cudaMallocAsync(p, bytes, stream)                                                          \
    cudasim_malloc_async(CUDASIM_HERE, (void **)(p), (bytes), (stream))
#define cudaMallocFromPoolAsync(p, bytes, pool, stream)                                            \
    ((void)(pool), cudasim_malloc_async(CUDASIM_HERE, (void **)(p), (bytes), (stream)))
#define cudaFreeAsync(p, stream) cudasim_free_async(CUDASIM_HERE, (void *)(p), (stream))
#define cudaMemcpy(...) cudasim_memcpy(CUDASIM_HERE, __VA_ARGS__)
#define cudaMemcpyAsync(...) cudasim_memcpy_async(CUDASIM_HERE, __VA_ARGS__)
#define cudaMemcpy2D(...) cudasim_memcpy_2d(CUDASIM_HERE, __VA_ARGS__)
#define cudaMemset(...) cudasim_memset(CUDASIM_HERE, __VA_ARGS__)
#define cudaMemsetAsync(...) cudasim_memset_async(CUDASIM_HERE, __VA_ARGS__)
#define cudaStreamCreate(stream) cudasim_stream_create(CUDASIM_HERE, (stream), cudaStreamDefault)
#define cudaStreamCreateWithFlags(...) cudasim_stream_create(CUDASIM_HERE, __VA_ARGS__)
#define cudaStreamDestroy(...) cudasim_stream_destroy(CUDASIM_HERE, __VA_ARGS__)
#define cudaStreamSynchronize(...) cudasim_stream_synchronize(CUDASIM_HERE, __VA_ARGS__)
#define cudaStreamQuery(...) cudasim_stream_query(CUDASIM_HERE, __VA_ARGS__)
#define cudaStreamWaitEvent(...) cudasim_stream_wait_event(CUDASIM_HERE, __VA_ARGS__)
#define cudaEventCreate(event) cudasim_event_create(CUDASIM_HERE, (event), cudaEventDefault)
#define cudaEventCreateWithFlags(...) cudasim_event_create(CUDASIM_HERE, __VA_ARGS__)
#define cudaEventDestroy(...) cudasim_event_destroy(CUDASIM_HERE, __VA_ARGS__)
#define cudaEventRecord(...) cudasim_event_record(CUDASIM_HERE, __VA_ARGS__)
#define cudaEventSynchronize(...) cudasim_event_synchronize(CUDASIM_HERE, __VA_ARGS__)
#define cudaEventQuery(...) cudasim_event_query(CUDASIM_HERE, __VA_ARGS__)
#define cudaEventElapsedTime(...) cudasim_event_elapsed_time(CUDASIM_HERE, __VA_ARGS__)
#define cudaDeviceSynchronize() cudasim_device_synchronize(CUDASIM_HERE)
#define cudaDeviceReset() cudasim_device_reset(CUDASIM_HERE)
#define cudaFuncSetAttribute(kernel, attribute, value)                                             \
    cudasim_func_set_attribute(CUDASIM_HERE, (const void *)(kernel), (attribute), (value))
/** @endcond */

#include "cudasim_unsupported.h"

#ifdef __cplusplus
#include "cudasim_kernel.h"
#endif

#endif
