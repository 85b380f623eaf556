/**
 * @file cuda_runtime_api.h
 * @brief The host functions of the CUDA runtime, for C and C++.
 * @ingroup cudasim
 *
 * Many are macros that add file and line, because a report names the line of the call.
 */
#ifndef CUDASIM_CUDA_RUNTIME_API_H
#define CUDASIM_CUDA_RUNTIME_API_H

#include "driver_types.h"
#include "vector_types.h"

#include "cudasim_graph.h"

#ifdef __cplusplus
extern "C" {
#endif
/** @cond */
cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorString(cudaError_t error);
const char *cudaGetErrorName(cudaError_t error);

cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaChooseDevice(int *device, const cudaDeviceProp *wanted);
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags);
cudaError_t cudaCtxResetPersistingL2Cache(void);
cudaError_t cudaGetDeviceFlags(unsigned *flags);
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value);
cudaError_t cudaDeviceGetLimit(size_t *value, cudaLimit limit);
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache wanted);
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache *wanted);
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig wanted);
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig *wanted);
cudaError_t cudaDeviceGetPCIBusId(char *text, int bytes, int device);
cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *text);
cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer);
cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
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

/* For those who take their address; called by name they are macros. */
cudaError_t cudaFree(void *p);
cudaError_t cudaFreeHost(void *p);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaEventDestroy(cudaEvent_t event);

cudaError_t cudasim_set_device(CUDASIM_PLACE, int device);
cudaError_t cudasim_enable_peer(CUDASIM_PLACE, int peer, unsigned flags);
cudaError_t cudasim_disable_peer(CUDASIM_PLACE, int peer);

cudaError_t cudasim_malloc(CUDASIM_PLACE, void **p, size_t bytes);
cudaError_t cudasim_free(CUDASIM_PLACE, void *p);
cudaError_t cudasim_malloc_host(CUDASIM_PLACE, void **p, size_t bytes);
cudaError_t cudasim_host_alloc(CUDASIM_PLACE, void **p, size_t bytes, unsigned flags);
cudaError_t cudaHostGetFlags(unsigned *flags, void *p);
cudaError_t cudasim_free_host(CUDASIM_PLACE, void *p);
cudaError_t cudasim_malloc_async(CUDASIM_PLACE, void **p, size_t bytes, cudaStream_t stream);
cudaError_t cudasim_free_async(CUDASIM_PLACE, void *p, cudaStream_t stream);

cudaError_t cudasim_memcpy(CUDASIM_PLACE, void *to, const void *from, size_t bytes,
                           cudaMemcpyKind kind);
cudaError_t cudasim_memcpy_async(CUDASIM_PLACE, void *to, const void *from, size_t bytes,
                                 cudaMemcpyKind kind, cudaStream_t stream CUDASIM_DEFAULT(0));
unsigned cudasim_failed(void);
void cudasim_nobody_looked(void);
void cudasim_padded(size_t padding);
int cudasim_no_room(CUDASIM_PLACE, const char *call, const char *end, size_t bytes, size_t room);
cudaError_t cudasim_memcpy_peer(CUDASIM_PLACE, void *to, int to_device, const void *from,
                                int from_device, size_t bytes);
cudaError_t cudasim_memcpy_peer_async(CUDASIM_PLACE, void *to, int to_device, const void *from,
                                      int from_device, size_t bytes,
                                      cudaStream_t stream CUDASIM_DEFAULT(0));
cudaError_t cudasim_memcpy_2d(CUDASIM_PLACE, void *to, size_t to_pitch, const void *from,
                              size_t from_pitch, size_t width, size_t height, cudaMemcpyKind kind);
cudaError_t cudasim_memcpy_2d_async(CUDASIM_PLACE, void *to, size_t to_pitch, const void *from,
                                    size_t from_pitch, size_t width, size_t height,
                                    cudaMemcpyKind kind, cudaStream_t stream CUDASIM_DEFAULT(0));
cudaError_t cudasim_memset_2d(CUDASIM_PLACE, void *to, size_t pitch, int value, size_t width,
                              size_t height);
cudaError_t cudasim_memset_2d_async(CUDASIM_PLACE, void *to, size_t pitch, int value, size_t width,
                                    size_t height, cudaStream_t stream CUDASIM_DEFAULT(0));
cudaError_t cudasim_malloc_pitch(CUDASIM_PLACE, const char *call, void **p, size_t *pitch,
                                 size_t width, size_t height);
cudaError_t cudasim_malloc_managed(CUDASIM_PLACE, void **p, size_t bytes,
                                   unsigned flags CUDASIM_DEFAULT(1));
cudaError_t cudasim_host_register(CUDASIM_PLACE, void *p, size_t bytes, unsigned flags);
cudaError_t cudasim_host_unregister(CUDASIM_PLACE, void *p);
cudaError_t cudasim_host_device_pointer(CUDASIM_PLACE, void **device_p, void *host_p,
                                        unsigned flags);
cudaError_t cudasim_use_managed(CUDASIM_PLACE, const char *call, const void *p, size_t bytes);
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
cudaError_t cudasim_stream_create_with_priority(CUDASIM_PLACE, cudaStream_t *stream, unsigned flags,
                                                int priority);
cudaError_t cudasim_stream_priority(CUDASIM_PLACE, cudaStream_t stream, int *priority);
cudaError_t cudasim_stream_device(CUDASIM_PLACE, cudaStream_t stream, int *device);
cudaError_t cudasim_stream_set_attribute(CUDASIM_PLACE, cudaStream_t stream,
                                         cudaLaunchAttributeID attribute,
                                         const cudaLaunchAttributeValue *value);
cudaError_t cudasim_stream_get_attribute(CUDASIM_PLACE, cudaStream_t stream,
                                         cudaLaunchAttributeID attribute,
                                         cudaLaunchAttributeValue *value);
cudaError_t cudasim_stream_copy_attributes(CUDASIM_PLACE, cudaStream_t to, cudaStream_t from);
cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id);
cudaError_t cudasim_stream_flags(CUDASIM_PLACE, cudaStream_t stream, unsigned *flags);
cudaError_t cudasim_stream_add_callback(CUDASIM_PLACE, cudaStream_t stream,
                                        cudaStreamCallback_t call, void *data, unsigned flags);
cudaError_t cudasim_launch_host_func(CUDASIM_PLACE, cudaStream_t stream, cudaHostFn_t call,
                                     void *data);
cudaError_t cudasim_event_create(CUDASIM_PLACE, cudaEvent_t *event,
                                 unsigned flags CUDASIM_DEFAULT(0));
cudaError_t cudasim_event_destroy(CUDASIM_PLACE, cudaEvent_t event);
cudaError_t cudasim_event_record(CUDASIM_PLACE, cudaEvent_t event,
                                 cudaStream_t stream CUDASIM_DEFAULT(0));
cudaError_t cudasim_event_record_flags(CUDASIM_PLACE, cudaEvent_t event, cudaStream_t stream,
                                       unsigned flags);
cudaError_t cudasim_event_synchronize(CUDASIM_PLACE, cudaEvent_t event);
cudaError_t cudasim_event_query(CUDASIM_PLACE, cudaEvent_t event);
cudaError_t cudasim_event_elapsed_time(CUDASIM_PLACE, float *ms, cudaEvent_t from, cudaEvent_t to);
cudaError_t cudasim_device_synchronize(CUDASIM_PLACE);
cudaError_t cudasim_device_reset(CUDASIM_PLACE);
cudaError_t cudasim_func_set_attribute(CUDASIM_PLACE, const void *kernel,
                                       cudaFuncAttribute attribute, int value);
cudaError_t cudasim_func_get_attributes(cudaFuncAttributes *attributes, const void *kernel);
cudaError_t cudasim_func_name(const char **name, const char *otherwise, const void *kernel);
cudaError_t cudasim_active_blocks(int *blocks, const void *kernel, int threads, size_t shared);
cudaError_t cudasim_shared_of_blocks(size_t *bytes, const void *kernel, int blocks, int threads);
cudaError_t cudasim_symbol(CUDASIM_PLACE, const char *call, const char *name, const void *begin,
                           size_t bytes);
cudaError_t cudasim_memcpy_symbol(CUDASIM_PLACE, const char *call, cudaMemcpyKind usual, void *to,
                                  const void *from, size_t bytes, size_t size, size_t offset,
                                  const char *name, cudaMemcpyKind kind);
/** @endcond */
#ifdef __cplusplus
}
#endif

#include "cudasim_pools.h"

/** @cond */
/* Memory in slices is rows with a pitch; the slices follow each other. */
static inline __attribute__((unused)) cudaError_t
cudasim_malloc_3d(CUDASIM_PLACE, cudaPitchedPtr *p, cudaExtent extent) {
    void *first;
    size_t pitch, rows = extent.height * extent.depth;
    cudaError_t error =
        cudasim_malloc_pitch(file, line, "cudaMalloc3D", &first, &pitch, extent.width, rows);
    if (error == cudaSuccess) {
        *p = make_cudaPitchedPtr(first, pitch, extent.width, extent.height);
    }
    return error;
}
static inline __attribute__((unused)) cudaError_t cudasim_memset_3d(CUDASIM_PLACE, cudaPitchedPtr p,
                                                                    int value, cudaExtent extent) {
    cudaError_t error = cudaSuccess;
    for (size_t z = 0; z < extent.depth && error == cudaSuccess; z++) {
        error = cudasim_memset_2d(file, line, (char *)p.ptr + z * p.pitch * p.ysize, p.pitch, value,
                                  extent.width, extent.height);
    }
    return error;
}
static inline __attribute__((unused)) cudaError_t
cudasim_memset_3d_async(CUDASIM_PLACE, cudaPitchedPtr p, int value, cudaExtent extent,
                        cudaStream_t stream CUDASIM_DEFAULT(0)) {
    cudaError_t error = cudaSuccess;
    for (size_t z = 0; z < extent.depth && error == cudaSuccess; z++) {
        error = cudasim_memset_2d_async(file, line, (char *)p.ptr + z * p.pitch * p.ysize, p.pitch,
                                        value, extent.width, extent.height, stream);
    }
    return error;
}
/** @endcond */

/** @cond */
#define cudaSetDevice(device) cudasim_set_device(CUDASIM_HERE, (device))
#define cudaDeviceEnablePeerAccess(...) cudasim_enable_peer(CUDASIM_HERE, __VA_ARGS__)
#define cudaDeviceDisablePeerAccess(peer) cudasim_disable_peer(CUDASIM_HERE, (peer))
#define cudaMalloc(p, bytes) cudasim_malloc(CUDASIM_HERE, (void **)(p), (bytes))
#define cudaFree(p) cudasim_free(CUDASIM_HERE, (void *)(p))
#define cudaMallocHost(p, bytes, ...) cudasim_malloc_host(CUDASIM_HERE, (void **)(p), (bytes))
#define cudaHostAlloc(p, bytes, flags)                                                             \
    cudasim_host_alloc(CUDASIM_HERE, (void **)(p), (bytes), (flags))
#define cudaFreeHost(p) cudasim_free_host(CUDASIM_HERE, (void *)(p))
/* C++ has a form with a pool. */
#define cudaMallocAsync(p, bytes, ...)                                                             \
    cudasim_malloc_async(CUDASIM_HERE, (void **)(p), (bytes),                                      \
                         CUDASIM_LAST(__VA_ARGS__, __VA_ARGS__))
#define CUDASIM_LAST(first, second, ...) second
#define cudaMallocFromPoolAsync(p, bytes, pool, stream)                                            \
    ((void)(pool), cudasim_malloc_async(CUDASIM_HERE, (void **)(p), (bytes), (stream)))
#define cudaFreeAsync(p, stream) cudasim_free_async(CUDASIM_HERE, (void *)(p), (stream))
#define cudaMemcpy(...) cudasim_memcpy(CUDASIM_HERE, __VA_ARGS__)
#define cudaMemcpyAsync(...) cudasim_memcpy_async(CUDASIM_HERE, __VA_ARGS__)
#define cudaMemcpy2D(...) cudasim_memcpy_2d(CUDASIM_HERE, __VA_ARGS__)
#define cudaMemcpy2DAsync(...) cudasim_memcpy_2d_async(CUDASIM_HERE, __VA_ARGS__)
#define cudaMemset2D(...) cudasim_memset_2d(CUDASIM_HERE, __VA_ARGS__)
#define cudaMemset2DAsync(...) cudasim_memset_2d_async(CUDASIM_HERE, __VA_ARGS__)
#define cudaMallocPitch(p, ...)                                                                    \
    cudasim_malloc_pitch(CUDASIM_HERE, "cudaMallocPitch", (void **)(p), __VA_ARGS__)
#define cudaMallocManaged(p, ...) cudasim_malloc_managed(CUDASIM_HERE, (void **)(p), __VA_ARGS__)
#define cudaMemPrefetchAsync(p, bytes, ...)                                                        \
    cudasim_use_managed(CUDASIM_HERE, "cudaMemPrefetchAsync", (p), (bytes))
#define cudaMemAdvise(p, bytes, ...)                                                               \
    cudasim_use_managed(CUDASIM_HERE, "cudaMemAdvise", (p), (bytes))
#define cudaStreamAttachMemAsync(stream, p, ...)                                                   \
    cudasim_use_managed(CUDASIM_HERE, "cudaStreamAttachMemAsync", (p), 1)
#define cudaHostRegister(p, ...) cudasim_host_register(CUDASIM_HERE, (void *)(p), __VA_ARGS__)
#define cudaHostUnregister(p) cudasim_host_unregister(CUDASIM_HERE, (void *)(p))
#define cudaHostGetDevicePointer(p, ...)                                                           \
    cudasim_host_device_pointer(CUDASIM_HERE, (void **)(p), __VA_ARGS__)
#define cudaMemset(...) cudasim_memset(CUDASIM_HERE, __VA_ARGS__)
#define cudaMemsetAsync(...) cudasim_memset_async(CUDASIM_HERE, __VA_ARGS__)
#define cudaStreamCreate(stream) cudasim_stream_create(CUDASIM_HERE, (stream), cudaStreamDefault)
#define cudaStreamCreateWithFlags(...) cudasim_stream_create(CUDASIM_HERE, __VA_ARGS__)
#define cudaStreamCreateWithPriority(...)                                                          \
    cudasim_stream_create_with_priority(CUDASIM_HERE, __VA_ARGS__)
#define cudaStreamGetPriority(...) cudasim_stream_priority(CUDASIM_HERE, __VA_ARGS__)
#define cudaStreamGetFlags(...) cudasim_stream_flags(CUDASIM_HERE, __VA_ARGS__)
#define cudaStreamGetDevice(...) cudasim_stream_device(CUDASIM_HERE, __VA_ARGS__)
#define cudaStreamSetAttribute(...) cudasim_stream_set_attribute(CUDASIM_HERE, __VA_ARGS__)
#define cudaStreamGetAttribute(...) cudasim_stream_get_attribute(CUDASIM_HERE, __VA_ARGS__)
#define cudaStreamCopyAttributes(...) cudasim_stream_copy_attributes(CUDASIM_HERE, __VA_ARGS__)
#define cudaStreamAddCallback(...) cudasim_stream_add_callback(CUDASIM_HERE, __VA_ARGS__)
#define cudaLaunchHostFunc(...) cudasim_launch_host_func(CUDASIM_HERE, __VA_ARGS__)
#define cudaStreamDestroy(...) cudasim_stream_destroy(CUDASIM_HERE, __VA_ARGS__)
#define cudaStreamSynchronize(...) cudasim_stream_synchronize(CUDASIM_HERE, __VA_ARGS__)
#define cudaStreamQuery(...) cudasim_stream_query(CUDASIM_HERE, __VA_ARGS__)
#define cudaStreamWaitEvent(...) cudasim_stream_wait_event(CUDASIM_HERE, __VA_ARGS__)
#define cudaEventCreate(...) cudasim_event_create(CUDASIM_HERE, CUDASIM_FLAGS(__VA_ARGS__, 0, 0))
#define CUDASIM_FLAGS(first, flags, ...) first, flags
#define cudaEventCreateWithFlags(...) cudasim_event_create(CUDASIM_HERE, __VA_ARGS__)
#define cudaEventDestroy(...) cudasim_event_destroy(CUDASIM_HERE, __VA_ARGS__)
#define cudaEventRecord(...) cudasim_event_record(CUDASIM_HERE, __VA_ARGS__)
#define cudaEventRecordWithFlags(...) cudasim_event_record_flags(CUDASIM_HERE, __VA_ARGS__)
#define cudaEventSynchronize(...) cudasim_event_synchronize(CUDASIM_HERE, __VA_ARGS__)
#define cudaEventQuery(...) cudasim_event_query(CUDASIM_HERE, __VA_ARGS__)
#define cudaEventElapsedTime(...) cudasim_event_elapsed_time(CUDASIM_HERE, __VA_ARGS__)
#define cudaDeviceSynchronize() cudasim_device_synchronize(CUDASIM_HERE)
#define cudaThreadSynchronize() cudasim_device_synchronize(CUDASIM_HERE)
#define cudaThreadExit() cudasim_device_reset(CUDASIM_HERE)
#define cudaMemcpyPeer(to, to_device, from, from_device, bytes)                                    \
    cudasim_memcpy_peer(CUDASIM_HERE, (to), (to_device), (from), (from_device), (bytes))
#define cudaMemcpyPeerAsync(...) cudasim_memcpy_peer_async(CUDASIM_HERE, __VA_ARGS__)
#ifndef __cplusplus /* see cudasim_host.h */
#define cudaFuncSetCacheConfig(kernel, wanted) ((void)(kernel), (void)(wanted), cudaSuccess)
#define cudaFuncSetSharedMemConfig(kernel, wanted) ((void)(kernel), (void)(wanted), cudaSuccess)
#endif
#define cudaDeviceReset() cudasim_device_reset(CUDASIM_HERE)
#define cudaFuncSetAttribute(...) cudasim_func_set_attribute(CUDASIM_HERE, __VA_ARGS__)
#define cudaMalloc3D(p, extent) cudasim_malloc_3d(CUDASIM_HERE, (p), (extent))
#define cudaMemset3DAsync(...) cudasim_memset_3d_async(CUDASIM_HERE, __VA_ARGS__)
#define cudaMemset3D(p, value, extent) cudasim_memset_3d(CUDASIM_HERE, (p), (value), (extent))
/** @endcond */

#endif
