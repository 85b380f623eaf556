/**
 * @file cudasim_pools.h
 * @brief Pools of memory, places of memory, and properties of pairs of devices. Included by
 * cuda_runtime_api.h.
 * @ingroup cudasim
 *
 * There is one device and one pool: a pool that is made is that pool, and what is made from it
 * counts there.
 */
#ifndef CUDASIM_POOLS_H
#define CUDASIM_POOLS_H

#include <stdbool.h>

/** Where memory is. */
typedef enum cudaMemLocationType {
    cudaMemLocationTypeInvalid = 0, /**< nowhere */
    cudaMemLocationTypeDevice = 1,  /**< on a device */
    cudaMemLocationTypeHost = 2,    /**< on the host; those below mean the same here */
    cudaMemLocationTypeHostNuma = 3,
    cudaMemLocationTypeHostNumaCurrent = 4
} cudaMemLocationType;

/** A place of memory. */
typedef struct cudaMemLocation {
    cudaMemLocationType type; /**< device or host */
    int id;                   /**< of the device */
} cudaMemLocation;

/** The rights of a place. */
typedef enum cudaMemAccessFlags {
    cudaMemAccessFlagsProtNone = 0,     /**< nothing */
    cudaMemAccessFlagsProtRead = 1,     /**< reads */
    cudaMemAccessFlagsProtReadWrite = 3 /**< reads and writes */
} cudaMemAccessFlags;

/** A place and its rights. */
typedef struct cudaMemAccessDesc {
    cudaMemLocation location; /**< place */
    cudaMemAccessFlags flags; /**< rights */
} cudaMemAccessDesc;

/** @cond */
typedef enum cudaMemAllocationType {
    cudaMemAllocationTypeInvalid = 0,
    cudaMemAllocationTypePinned = 1,
    cudaMemAllocationTypeMax = 0x7FFFFFFF
} cudaMemAllocationType;
typedef enum cudaMemAllocationHandleType {
    cudaMemHandleTypeNone = 0,
    cudaMemHandleTypePosixFileDescriptor = 1
} cudaMemAllocationHandleType;
typedef struct cudaMemPoolProps {
    cudaMemAllocationType allocType;
    cudaMemAllocationHandleType handleTypes;
    cudaMemLocation location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
} cudaMemPoolProps;
typedef enum cudaDeviceP2PAttr {
    cudaDevP2PAttrPerformanceRank = 1,
    cudaDevP2PAttrAccessSupported = 2,
    cudaDevP2PAttrNativeAtomicSupported = 3,
    cudaDevP2PAttrCudaArrayAccessSupported = 4
} cudaDeviceP2PAttr;
/** @endcond */

/** A pool on device 0 that is not to be shared with other processes. */
__attribute__((unused)) static inline cudaError_t
cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *properties) {
    if (properties->handleTypes != cudaMemHandleTypeNone) {
        return cudaErrorNotSupported;
    }
    return cudaDeviceGetDefaultMemPool(pool, properties->location.id);
}
/** Nothing is given back: it is the device's pool. */
__attribute__((unused)) static inline cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
    return pool != NULL ? cudaSuccess : cudaErrorInvalidValue;
}
/** The pool that cudaMallocAsync() takes from. */
__attribute__((unused)) static inline cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool,
                                                                       int device) {
    return cudaDeviceGetDefaultMemPool(pool, device);
}
/** Changes nothing: there is one pool. */
__attribute__((unused)) static inline cudaError_t cudaDeviceSetMemPool(int device,
                                                                       cudaMemPool_t pool) {
    return device == 0 && pool != NULL ? cudaSuccess : cudaErrorInvalidValue;
}
/** Device 0 always has access, and there is no other. */
__attribute__((unused)) static inline cudaError_t
cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *access, size_t count) {
    bool good = pool != NULL;
    for (size_t i = 0; i < count; i++) {
        good = good && access[i].location.id == 0 &&
               access[i].flags == cudaMemAccessFlagsProtReadWrite;
    }
    return good ? cudaSuccess : cudaErrorInvalidDevice;
}
/** The rights of device 0: all. */
__attribute__((unused)) static inline cudaError_t
cudaMemPoolGetAccess(cudaMemAccessFlags *flags, cudaMemPool_t pool, cudaMemLocation *location) {
    *flags = cudaMemAccessFlagsProtReadWrite;
    return pool != NULL && location->id == 0 ? cudaSuccess : cudaErrorInvalidValue;
}
/** A property of a pair of devices; of one with itself, an error. */
__attribute__((unused)) static inline cudaError_t
cudaDeviceGetP2PAttribute(int *value, cudaDeviceP2PAttr attribute, int from, int to) {
    *value = 0;
    (void)attribute, (void)from, (void)to;
    return cudaErrorInvalidDevice;
}

#endif
