#include "device.h"
#include "rank.h"

/* Whose memory the kernels of a device may use, and a rank. A copy may go from any device to any
   other: without peer access CUDA takes it through the host. */

static bool reaches(const SimDevice *from, const Allocation *a) {
    uint64_t devices = a->pooled ? device_of(a->device)->pool_users : from->peers;
    int bit = a->pooled ? (int)(from - device_of(0)) : a->device;
    return devices >> bit & 1;
}

bool sim_reaches(int device, const Allocation *a) {
    return device == a->device || a->pinned || a->managed || reaches(device_of(device), a);
}

/* ---- reports --------------------------------------------------------------------------------- */

void sim_detail_reach(int device, const Allocation *a) {
    Place ended = device_of(device)->peer_ended[a->device];
    if (a->pooled) {
        sim_detail("memory from cudaMallocAsync is its device's alone: cudaMemPoolSetAccess opens "
                   "the pool to others");
        return;
    }
    if (ended.file != NULL) {
        sim_detail("peer access was disabled at %s:%d", sim_file(ended), ended.line);
    }
    sim_detail("was the right device current, by cudaSetDevice? With device %d current, "
               "cudaDeviceEnablePeerAccess(%d, 0) lets its kernels use memory of device %d",
               device, a->device, a->device);
}

bool sim_is_own(const Allocation *a, const char *what, Place place) {
    int rank = sim_rank();
    if (a->rank == rank || a->rank == NO_RANK || rank == NO_RANK) {
        return true;
    }
    sim_report("memory of another rank", "%s at %s:%d uses memory of rank %d", what,
               sim_file(place), place.line, a->rank);
    sim_detail_address(a->base);
    sim_detail("ranks are like processes: none can use what another has allocated; send the data");
    return false;
}

bool sim_kernel_may_use(const Allocation *a, int slot, const char *what, Place place) {
    int device = queue_of(slot)->device;
    if (sim_reaches(device, a)) {
        return true;
    }
    sim_report("memory of another device",
               "%s at %s:%d uses memory of device %d, and runs on device %d", what, sim_file(place),
               place.line, a->device, device);
    sim_detail_address(a->base);
    sim_detail_reach(device, a);
    return false;
}

/* ---- peer access ----------------------------------------------------------------------------- */

static cudaError_t fail(cudaError_t error, const char *what, const char *file, int line) {
    return sim_error(error, what, (Place){file, line}, false);
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer) {
    ENTER("cudaDeviceCanAccessPeer", NULL, 0);
    if (can == NULL || !sim_has_device(device) || !sim_has_device(peer)) {
        return can == NULL ? cudaErrorInvalidValue : cudaErrorInvalidDevice;
    }
    *can = device != peer;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, cudaDeviceP2PAttr attribute, int from, int to) {
    ENTER("cudaDeviceGetP2PAttribute", NULL, 0);
    if (!sim_has_device(from) || !sim_has_device(to) || from == to) {
        return cudaErrorInvalidDevice;
    }
    switch (attribute) {
    case cudaDevP2PAttrPerformanceRank:
    case cudaDevP2PAttrCudaArrayAccessSupported:
        *value = 0;
        return cudaSuccess;
    case cudaDevP2PAttrAccessSupported:
    case cudaDevP2PAttrNativeAtomicSupported:
        *value = 1;
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
}

cudaError_t cudasim_enable_peer(const char *file, int line, int peer, unsigned flags) {
    ENTER("cudaDeviceEnablePeerAccess", file, line);
    static const char what[] = "cudaDeviceEnablePeerAccess";
    SimDevice *device = device_of(sim_device());
    if (!sim_has_device(peer) || peer == sim_device()) {
        return fail(cudaErrorInvalidDevice, what, file, line);
    }
    if (flags != 0) {
        return fail(cudaErrorInvalidValue, what, file, line);
    }
    if (device->peers >> peer & 1) {
        return fail(cudaErrorPeerAccessAlreadyEnabled, what, file, line);
    }
    device->peers |= (uint64_t)1 << peer;
    device->peer_ended[peer] = (Place){NULL, 0};
    return sim_device_error();
}

cudaError_t cudasim_disable_peer(const char *file, int line, int peer) {
    ENTER("cudaDeviceDisablePeerAccess", file, line);
    static const char what[] = "cudaDeviceDisablePeerAccess";
    SimDevice *device = device_of(sim_device());
    if (!sim_has_device(peer)) {
        return fail(cudaErrorInvalidDevice, what, file, line);
    }
    if ((device->peers >> peer & 1) == 0) {
        return fail(cudaErrorPeerAccessNotEnabled, what, file, line);
    }
    sim_close_memory();
    device->peers &= ~((uint64_t)1 << peer);
    device->peer_ended[peer] = (Place){file, line};
    return sim_device_error();
}
