#include "device.h"

/* Pools of memory. Each device has one: a pool that is made is that pool. */

static SimDevice *device_of_pool(cudaMemPool_t pool) {
    return (SimDevice *)pool;
}

static int number_of(const SimDevice *device) {
    return (int)(device - device_of(0));
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device_number) {
    ENTER("cudaDeviceGetDefaultMemPool", NULL, 0);
    if (!sim_has_device(device_number)) {
        return cudaErrorInvalidDevice;
    }
    *pool = (cudaMemPool_t)device_of(device_number);
    return cudaSuccess;
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value) {
    ENTER("cudaMemPoolSetAttribute", NULL, 0);
    SimDevice *device = device_of_pool(pool);
    if (pool == NULL || value == NULL) {
        return cudaErrorInvalidValue;
    }
    if (attribute == cudaMemPoolAttrReleaseThreshold) {
        device->release_threshold = *(uint64_t *)value;
    } else if (attribute == cudaMemPoolAttrUsedMemHigh ||
               attribute == cudaMemPoolAttrReservedMemHigh) {
        /* Only 0 may be set: measure anew. */
        device->memory.peak = device->memory.now;
    }
    return cudaSuccess;
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void *value) {
    ENTER("cudaMemPoolGetAttribute", NULL, 0);
    const SimDevice *device = device_of_pool(pool);
    if (pool == NULL || value == NULL) {
        return cudaErrorInvalidValue;
    }
    switch (attribute) {
    case cudaMemPoolAttrReleaseThreshold:
        *(uint64_t *)value = device->release_threshold;
        return cudaSuccess;
    case cudaMemPoolAttrReservedMemCurrent:
    case cudaMemPoolAttrUsedMemCurrent:
        *(uint64_t *)value = device->memory.now;
        return cudaSuccess;
    case cudaMemPoolAttrReservedMemHigh:
    case cudaMemPoolAttrUsedMemHigh:
        *(uint64_t *)value = device->memory.peak;
        return cudaSuccess;
    case cudaMemPoolReuseFollowEventDependencies:
    case cudaMemPoolReuseAllowOpportunistic:
    case cudaMemPoolReuseAllowInternalDependencies:
        *(int *)value = 1;
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep_bytes) {
    ENTER("cudaMemPoolTrimTo", NULL, 0);
    (void)keep_bytes;
    return pool != NULL ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const cudaMemPoolProps *properties) {
    return properties->handleTypes != cudaMemHandleTypeNone
               ? cudaErrorNotSupported
               : cudaDeviceGetDefaultMemPool(pool, properties->location.id);
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
    return pool != NULL ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device) {
    return cudaDeviceGetDefaultMemPool(pool, device);
}

/* Only its own pool is a device's: memory of another would be of another device. */
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
    ENTER("cudaDeviceSetMemPool", NULL, 0);
    bool good = sim_has_device(device) && pool != NULL;
    return good && device_of_pool(pool) == device_of(device) ? cudaSuccess : cudaErrorInvalidValue;
}

/* The rights of its own device cannot be taken away. */
static bool good_access(const SimDevice *owner, const cudaMemAccessDesc *access) {
    int id = access->location.id;
    return sim_has_device(id) && access->flags != cudaMemAccessFlagsProtRead &&
           (device_of(id) != owner || access->flags == cudaMemAccessFlagsProtReadWrite);
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc *access,
                                 size_t count) {
    ENTER("cudaMemPoolSetAccess", NULL, 0);
    SimDevice *owner = device_of_pool(pool);
    bool good = pool != NULL;
    for (size_t i = 0; good && i < count; i++) {
        good = good_access(owner, &access[i]);
    }
    for (size_t i = 0; good && i < count; i++) {
        uint64_t bit = (uint64_t)1 << access[i].location.id;
        bool may = access[i].flags == cudaMemAccessFlagsProtReadWrite;
        owner->pool_users = may ? owner->pool_users | bit : owner->pool_users & ~bit;
    }
    return good ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags *flags, cudaMemPool_t pool,
                                 cudaMemLocation *location) {
    ENTER("cudaMemPoolGetAccess", NULL, 0);
    const SimDevice *owner = device_of_pool(pool);
    if (pool == NULL || !sim_has_device(location->id)) {
        return cudaErrorInvalidValue;
    }
    bool may = location->id == number_of(owner) || owner->pool_users >> location->id & 1;
    *flags = may ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
}
