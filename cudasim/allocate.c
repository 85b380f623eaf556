#include "device.h"
#include "graph.h"

/* The calls that get memory, give it back, and ask about it. */

static cudaError_t allocate(int device, void **p, size_t bytes, bool on_host, const char *maker,
                            Place place, Allocation **made) {
    if (sim_device_error() != cudaSuccess) {
        return sim_device_error();
    }
    if (p == NULL) {
        return sim_error(cudaErrorInvalidValue, maker, place, false);
    }
    *p = NULL;
    if (bytes == 0) {
        return cudaSuccess;
    }
    *made = sim_allocate(device, bytes, on_host, maker, place);
    if (*made == NULL) {
        if (bytes > PTRDIFF_MAX) {
            sim_note("%s at %s:%d is asked for a negative size", maker, sim_file(place),
                     place.line);
            sim_detail_size(bytes);
        }
        return sim_error(cudaErrorMemoryAllocation, maker, place, false);
    }
    *p = (*made)->base;
    return cudaSuccess;
}

static cudaError_t allocate_now(void **p, size_t bytes, bool on_host, const char *maker,
                                Place place) {
    Allocation *made;
    cudaError_t error = sim_may_allocate(maker, place);
    return error != cudaSuccess ? error
                                : allocate(sim_device(), p, bytes, on_host, maker, place, &made);
}

cudaError_t cudasim_malloc(const char *file, int line, void **p, size_t bytes) {
    ENTER("cudaMalloc", file, line);
    return allocate_now(p, bytes, false, "cudaMalloc", (Place){file, line});
}

cudaError_t cudasim_malloc_pitch(const char *file, int line, const char *call, void **p,
                                 size_t *pitch, size_t width, size_t height) {
    ENTER(call, file, line);
    enum { PITCH = 512 };
    if (pitch == NULL) {
        return sim_error(cudaErrorInvalidValue, call, (Place){file, line}, false);
    }
    *pitch = (width + PITCH - 1) / PITCH * PITCH;
    size_t bytes;
    if (*pitch < width || __builtin_mul_overflow(*pitch, height, &bytes)) {
        return sim_error(cudaErrorMemoryAllocation, call, (Place){file, line}, false);
    }
    return allocate_now(p, bytes, false, call, (Place){file, line});
}

cudaError_t cudasim_malloc_host(const char *file, int line, void **p, size_t bytes) {
    ENTER("cudaMallocHost", file, line);
    return allocate_now(p, bytes, true, "cudaMallocHost", (Place){file, line});
}

cudaError_t cudasim_host_alloc(const char *file, int line, void **p, size_t bytes, unsigned flags) {
    ENTER("cudaHostAlloc", file, line);
    cudaError_t error = allocate_now(p, bytes, true, "cudaHostAlloc", (Place){file, line});
    Allocation *a = error == cudaSuccess ? sim_allocation(*p) : NULL;
    if (a != NULL) {
        a->flags = flags;
    }
    return error;
}

/* In a graph, memory would be its own. */
static cudaError_t may_order(cudaStream_t stream, const char *what, Place place, int *slot) {
    cudaError_t error = sim_may_submit(stream, what, place, slot);
    if (error == cudaSuccess && capture_takes(*slot)) {
        sim_report("unsupported",
                   "%s at %s:%d while the stream is captured: take and free memory outside", what,
                   sim_file(place), place.line);
        return sim_error(cudaErrorNotSupported, what, place, false);
    }
    return error;
}

cudaError_t cudasim_malloc_async(const char *file, int line, void **p, size_t bytes,
                                 cudaStream_t stream) {
    ENTER("cudaMallocAsync", file, line);
    Place place = {file, line};
    Allocation *made = NULL;
    int slot;
    cudaError_t error = may_order(stream, "cudaMallocAsync", place, &slot);
    if (error != cudaSuccess) {
        return error;
    }
    error = allocate(queue_of(slot)->device, p, bytes, false, "cudaMallocAsync", place, &made);
    if (made != NULL) {
        /* Nothing is left to do when the stream gets there; the order is what counts. */
        const Operation *operation =
            sim_submit(stream, (Work){.what = "cudaMallocAsync", .place = place});
        made->pooled = true;
        made->maker_stream = slot;
        made->maker_number = operation->number;
    }
    return error;
}

/* Whether p may be freed by `call`; reports why not. */
static bool may_free(const char *call, void *p, bool on_host, Place place) {
    const Allocation *a = sim_allocation(p);
    const char *file = sim_file(place);
    if (a != NULL && a->given_back) {
        sim_report("double free", "%s at %s:%d frees memory that was freed before", call, file,
                   place.line);
        sim_detail_address(p);
    } else if (a == NULL || a->base != p) {
        sim_report("invalid free", "%s at %s:%d: %s", call, file, place.line,
                   a != NULL ? "not the start of an allocation" : "this is not a device pointer");
        if (a != NULL) {
            sim_detail_address(p);
        }
    } else if (a->by_kernel) {
        sim_report("invalid free",
                   "%s at %s:%d: this is memory that malloc() in a kernel has returned", call, file,
                   place.line);
        sim_detail_address(p);
        sim_detail("free() in a kernel frees it");
    } else if (a->pinned != on_host) {
        sim_report("invalid free", "%s at %s:%d: memory from %s", call, file, place.line, a->maker);
        sim_detail("free it with %s", a->pinned ? "cudaFreeHost" : "cudaFree");
    } else {
        return sim_is_own(a, call, place);
    }
    return false;
}

/* cudaFree() waits for its device; another one may still use the memory, by peer access. */
static void wait_unused(const char *call, const Allocation *a, Place place) {
    for (int i = 0; i < a->used_count; i++) {
        LastUse last = a->used[i];
        if (!sim_host_ordered(last.slot, last.number)) {
            sim_report("stream race",
                       "%s at %s:%d frees memory of device %d that device %d may still use", call,
                       sim_file(place), place.line, a->device, queue_of(last.slot)->device);
            sim_detail_address(a->base);
            sim_detail("wait for that device first: cudaSetDevice(%d), cudaDeviceSynchronize()",
                       queue_of(last.slot)->device);
            queue_run_to(last.slot, last.number);
            return;
        }
    }
}

static cudaError_t free_now(const char *call, void *p, bool on_host, Place place) {
    if (p == NULL) {
        return cudaSuccess;
    }
    cudaError_t error = sim_may_allocate(call, place);
    if (error != cudaSuccess) {
        return error;
    }
    if (!may_free(call, p, on_host, place)) {
        return sim_error(cudaErrorInvalidValue, call, place, false);
    }
    Allocation *allocation = sim_allocation(p);
    sim_wait_device(allocation->device);
    wait_unused(call, allocation, place);
    allocation->given_back = true;
    allocation->freed = place;
    sim_retire(allocation);
    return sim_device_error();
}

cudaError_t cudasim_free(const char *file, int line, void *p) {
    ENTER("cudaFree", file, line);
    return free_now("cudaFree", p, false, (Place){file, line});
}

cudaError_t cudasim_free_host(const char *file, int line, void *p) {
    ENTER("cudaFreeHost", file, line);
    return free_now("cudaFreeHost", p, true, (Place){file, line});
}

static void retire_later(void *context) {
    sim_retire(context);
}

cudaError_t cudasim_free_async(const char *file, int line, void *p, cudaStream_t stream) {
    ENTER("cudaFreeAsync", file, line);
    Place place = {file, line};
    int slot;
    cudaError_t error = may_order(stream, "cudaFreeAsync", place, &slot);
    if (p == NULL || error != cudaSuccess) {
        return error;
    }
    if (!may_free("cudaFreeAsync", p, false, place)) {
        return sim_error(cudaErrorInvalidValue, "cudaFreeAsync", place, false);
    }
    Allocation *allocation = sim_allocation(p);
    sim_use(allocation, slot, "cudaFreeAsync", place);
    Clock before;
    sim_clock_of(slot, &before);
    for (int i = 0; i < allocation->used_count; i++) {
        LastUse last = allocation->used[i];
        if (last.slot != slot && last.number > clock_at(&before, last.slot)) {
            sim_report("stream race",
                       "cudaFreeAsync at %s:%d frees memory that another stream may still use",
                       sim_file(place), line);
            sim_detail_address(p);
            sim_detail("let this stream wait for an event of the other one first");
            break;
        }
    }
    allocation->given_back = true;
    allocation->freed = place;
    Work work = {
        .what = "cudaFreeAsync", .place = place, .run = retire_later, .context = allocation};
    sim_submit(stream, work);
    return sim_device_error();
}

/* ---- what there is --------------------------------------------------------------------------- */

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes) {
    ENTER("cudaMemGetInfo", NULL, 0);
    *total_bytes = sim_settings.memory;
    *free_bytes = sim_settings.memory - device_of(sim_device())->memory.now;
    return sim_device_error();
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *p) {
    ENTER("cudaPointerGetAttributes", NULL, 0);
    const Allocation *a = sim_allocation(p);
    *attributes =
        (cudaPointerAttributes){cudaMemoryTypeUnregistered, 0, NULL, (void *)(uintptr_t)p};
    if (a != NULL && a->live) {
        attributes->type = a->pinned    ? cudaMemoryTypeHost
                           : a->managed ? cudaMemoryTypeManaged
                                        : cudaMemoryTypeDevice;
        attributes->device = a->device;
        attributes->devicePointer = (void *)(uintptr_t)p;
        attributes->hostPointer = a->pinned || a->managed ? (void *)(uintptr_t)p : NULL;
    } else if (variable_at(p) != NULL) {
        attributes->type = cudaMemoryTypeDevice;
        attributes->device = sim_device();
        attributes->devicePointer = (void *)(uintptr_t)p;
    }
    return cudaSuccess;
}
