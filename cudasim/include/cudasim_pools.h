/**
 * @file cudasim_pools.h
 * @brief Pools of memory, places of memory, and properties of pairs of devices. Included by
 * cuda_runtime_api.h.
 * @ingroup cudasim
 *
 * Each device has one pool: a pool that is made is that pool, and what is made from it counts
 * there.
 */
#ifndef CUDASIM_POOLS_H
#define CUDASIM_POOLS_H

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

#ifdef __cplusplus
extern "C" {
#endif

/** A device's pool, if it is not to be shared with other processes. */
cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *properties);

/** Nothing is given back: it is the device's pool. */
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool);

/** The pool that cudaMallocAsync() takes from. */
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device);

/** Changes nothing: each device has one pool. */
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool);

/** Which devices may use memory of a pool, beside its own. */
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *access, size_t count);

/** Whether a device may. */
cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags *flags, cudaMemPool_t pool,
                                 cudaMemLocation *location);

/** A property of a pair of devices; of one with itself, an error. */
cudaError_t cudaDeviceGetP2PAttribute(int *value, cudaDeviceP2PAttr attribute, int from, int to);

#ifdef __cplusplus
}
#endif

#endif
