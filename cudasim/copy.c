#include "copy.h"
#include "cudasim_record.h"
#include "device.h"
#include "graph.h"
#include "host_heap.h"

/* A copy is an operation of its stream. From and to pageable memory it is over when the call
   returns, as in CUDA; from and to locked memory it is not. In a graph it has the memory of each
   launch, and pageable memory too is read and written when the graph gets there. */

/* ---- copies ---------------------------------------------------------------------------------- */

/* In a dry run there is nothing on a device. */
static void copy_dry(char *to, const char *from, size_t bytes) {
    if (!is_device(to)) {
        is_device(from) ? memset(to, 0, bytes) : memmove(to, from, bytes);
    }
}

static void look_at_order(const char *p, size_t bytes, bool write) {
    if (variable_at(p) != NULL || is_pinned(p)) {
        check_order(p, bytes, write);
    }
}

static void copy_row(char *to, const char *from, size_t bytes, size_t padding) {
    bool to_device = sim_on_device(to), from_device = sim_on_device(from);
    if (sim_settings.dry) {
        copy_dry(to, from, bytes);
        return;
    }
    look_at_order(from, bytes, false);
    look_at_order(to, bytes, true);
    if (from_device) {
        /* A copy within the device may copy memory that was never written. */
        sim_open(sim_allocation(from));
        if (!to_device) {
            check_padded(from, bytes, padding);
            sim_touch(from, bytes, false);
        }
    }
    if (to_device) {
        sim_touch(to, bytes, true);
    }
    memmove(to, from, bytes);
    if (to_device && from_device) {
        check_copied(to, from, bytes);
    }
}

static void run_copy(void *context) {
    const PendingCopy *copy = context;
    if (!copy_may_run(copy)) {
        return;
    }
    for (size_t z = 0; z < copy->extent.depth; z++) {
        for (size_t y = 0; y < copy->extent.height; y++) {
            copy_row(row_at(&copy->to, y, z), row_at(&copy->from, y, z), copy->extent.width,
                     copy->padding);
        }
    }
}

static void release_copy(void *context) {
    PendingCopy *copy = context;
    copy_forget(copy);
    free(copy->staged);
    free(copy);
}

/* Pageable memory may be changed as soon as the call has returned. */
static void stage(PendingCopy *copy) {
    Extent e = copy->extent;
    Box staged = {sim_realloc(NULL, e.width * e.height * e.depth), e.width, e.width * e.height};
    for (size_t i = 0; i < e.height * e.depth; i++) {
        memcpy(row_at(&staged, i % e.height, i / e.height),
               row_at(&copy->from, i % e.height, i / e.height), e.width);
    }
    copy->staged = staged.first;
    copy->from = staged;
}

/* Whether the two are of different devices; a variable (NULL) is of the device whose work runs. */
static bool apart_by(const Allocation *to, const Allocation *from) {
    return to != NULL && from != NULL && to->device != from->device;
}

static void account(const void *context, CudasimEntry *entry) {
    const PendingCopy *copy = context;
    Extent e = copy->extent;
    const Allocation *to = sim_allocation(copy->to.first), *from = sim_allocation(copy->from.first);
    entry->kind = CUDASIM_COPY;
    entry->bytes = (double)e.width * (double)e.height * (double)e.depth;
    entry->way = !copy->from_device    ? CUDASIM_TO_DEVICE
                 : !copy->to_device    ? CUDASIM_FROM_DEVICE
                 : !apart_by(to, from) ? CUDASIM_WITHIN_DEVICE
                                       : CUDASIM_BETWEEN_DEVICES;
    if (entry->way == CUDASIM_BETWEEN_DEVICES) {
        entry->device = from->device;
        entry->peer = to->device;
    }
}

static void copy_entered(void *context, const Operation *operation) {
    const PendingCopy *copy = context;
    size_t to = span(&copy->to, copy->extent), from = span(&copy->from, copy->extent);
    if (copy->from_device && !copy->to_device) {
        sim_event("fetch %zu", copy->extent.width * copy->extent.height * copy->extent.depth);
    }
    if (!copy->waits) {
        sim_guard(copy->to.first, to, true, operation);
        sim_guard(copy->from.first, from, false, operation);
    }
    if (!copy->waits && !copy->to_device) {
        sim_guard_unclosed(copy->to.first, to, true, operation);
    }
    if (!copy->waits && !copy->from_device && copy->staged == NULL) {
        sim_guard_unclosed(copy->from.first, from, false, operation);
    }
}

static PendingCopy directed(Box to, Box from, Extent extent, cudaMemcpyKind kind) {
    bool any = kind == cudaMemcpyDefault, within = kind == cudaMemcpyDeviceToDevice;
    PendingCopy copy = {.to = to, .from = from, .extent = extent};
    copy.to_device = any ? is_device(to.first) : within || kind == cudaMemcpyHostToDevice;
    copy.from_device = any ? is_device(from.first) : within || kind == cudaMemcpyDeviceToHost;
    return copy;
}

/* In a default stream a copy between two devices comes after all that was given to either of them,
   and before all that is given to them later. */
static void submit(cudaStream_t stream, int slot, Work work) {
    const PendingCopy *copy = work.context;
    const Allocation *to = sim_allocation(copy->to.first), *from = sim_allocation(copy->from.first);
    bool between = copy->to_device && copy->from_device && apart_by(to, from) &&
                   queue_of(slot)->kind == QUEUE_DEFAULT;
    if (!between) {
        sim_submit(stream, work);
        return;
    }
    int devices[] = {to->device, from->device};
    queue_join_device(devices[0], &queue_of(slot)->clock);
    queue_join_device(devices[1], &queue_of(slot)->clock);
    const Operation *operation = sim_submit(stream, work);
    queue_device_waits(devices[0], operation->clock);
    queue_device_waits(devices[1], operation->clock);
}

static cudaError_t copy_box(const char *call, Place place, PendingCopy work, cudaStream_t stream,
                            bool wait) {
    int slot;
    cudaError_t error = sim_may_submit(stream, call, place, &slot);
    if (error != cudaSuccess || work.extent.width * work.extent.height * work.extent.depth == 0) {
        return error;
    }
    if (!good_copy(call, place, &work, slot)) {
        return sim_error(cudaErrorInvalidValue, call, place, false);
    }
    bool captured = work.captured = capture_takes(slot);
    if (!wait && !captured && !work.from_device && !is_locked(&work.from, work.extent)) {
        stage(&work);
    }
    work.waits = wait ? !(work.to_device && work.from_device)
                      : !captured && !work.to_device && !is_locked(&work.to, work.extent);
    PendingCopy *kept = sim_realloc(NULL, sizeof *kept);
    *kept = work;
    if (captured) {
        copy_note(kept);
    }
    submit(stream, slot,
           (Work){.what = call,
                  .place = place,
                  .type = cudaGraphNodeTypeMemcpy,
                  .run = run_copy,
                  .release = release_copy,
                  .context = kept,
                  .entered = copy_entered,
                  .account = account});
    if (work.waits) {
        sim_wait_stream(slot);
    }
    return sim_device_error();
}

static __thread size_t padding_of_next;

void cudasim_padded(size_t padding) {
    padding_of_next = padding;
}

static cudaError_t copy(const char *call, Place place, void *to, const void *from, size_t bytes,
                        cudaMemcpyKind kind, cudaStream_t stream, bool wait) {
    PendingCopy plain =
        directed((Box){to, bytes, bytes}, (Box){(char *)(uintptr_t)from, bytes, bytes},
                 (Extent){bytes, 1, 1}, kind);
    plain.padding = padding_of_next;
    padding_of_next = 0;
    return copy_box(call, place, plain, stream, wait);
}

cudaError_t cudasim_memcpy(const char *file, int line, void *to, const void *from, size_t bytes,
                           cudaMemcpyKind kind) {
    ENTER("cudaMemcpy", file, line);
    return copy("cudaMemcpy", (Place){file, line}, to, from, bytes, kind, NULL, true);
}

cudaError_t cudasim_memcpy_async(const char *file, int line, void *to, const void *from,
                                 size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    ENTER("cudaMemcpyAsync", file, line);
    return copy("cudaMemcpyAsync", (Place){file, line}, to, from, bytes, kind, stream, false);
}

/* ---- between devices ------------------------------------------------------------------------- */

static bool is_of(const char *call, const char *end, const void *p, int device, Place place) {
    const Allocation *a = sim_allocation(p);
    if (a == NULL || a->device == device || a->pinned || a->managed) {
        return true;
    }
    sim_report("memory of another device",
               "%s at %s:%d: the %s is memory of device %d, but the call says device %d", call,
               sim_file(place), place.line, end, a->device, device);
    sim_detail_address(p);
    return false;
}

static cudaError_t copy_peer(const char *call, Place place, void *to, int to_device,
                             const void *from, int from_device, size_t bytes, cudaStream_t stream,
                             bool wait) {
    if (!sim_has_device(to_device) || !sim_has_device(from_device)) {
        return sim_error(cudaErrorInvalidDevice, call, place, false);
    }
    if (!is_of(call, "destination", to, to_device, place) ||
        !is_of(call, "source", from, from_device, place)) {
        return sim_error(cudaErrorInvalidValue, call, place, false);
    }
    return copy(call, place, to, from, bytes, cudaMemcpyDeviceToDevice, stream, wait);
}

cudaError_t cudasim_memcpy_peer(const char *file, int line, void *to, int to_device,
                                const void *from, int from_device, size_t bytes) {
    ENTER("cudaMemcpyPeer", file, line);
    return copy_peer("cudaMemcpyPeer", (Place){file, line}, to, to_device, from, from_device, bytes,
                     NULL, true);
}

cudaError_t cudasim_memcpy_peer_async(const char *file, int line, void *to, int to_device,
                                      const void *from, int from_device, size_t bytes,
                                      cudaStream_t stream) {
    ENTER("cudaMemcpyPeerAsync", file, line);
    return copy_peer("cudaMemcpyPeerAsync", (Place){file, line}, to, to_device, from, from_device,
                     bytes, stream, false);
}

/* ---- rows and slices ------------------------------------------------------------------------- */

static cudaError_t copy_rows(const char *call, Place place, Box to, Box from, Extent extent,
                             cudaMemcpyKind kind, cudaStream_t stream, bool wait) {
    if (extent.width > to.pitch || extent.width > from.pitch) {
        sim_report("invalid copy", "%s at %s:%d: rows of %zu bytes are wider than a pitch", call,
                   sim_file(place), place.line, extent.width);
        return sim_error(cudaErrorInvalidPitchValue, call, place, false);
    }
    return copy_box(call, place, directed(to, from, extent, kind), stream, wait);
}

cudaError_t cudasim_memcpy_2d(const char *file, int line, void *to, size_t to_pitch,
                              const void *from, size_t from_pitch, size_t width, size_t height,
                              cudaMemcpyKind kind) {
    ENTER("cudaMemcpy2D", file, line);
    return copy_rows("cudaMemcpy2D", (Place){file, line}, (Box){to, to_pitch, 0},
                     (Box){(char *)(uintptr_t)from, from_pitch, 0}, (Extent){width, height, 1},
                     kind, NULL, true);
}

cudaError_t cudasim_memcpy_2d_async(const char *file, int line, void *to, size_t to_pitch,
                                    const void *from, size_t from_pitch, size_t width,
                                    size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    ENTER("cudaMemcpy2DAsync", file, line);
    return copy_rows("cudaMemcpy2DAsync", (Place){file, line}, (Box){to, to_pitch, 0},
                     (Box){(char *)(uintptr_t)from, from_pitch, 0}, (Extent){width, height, 1},
                     kind, stream, false);
}

static Box box_of(cudaPitchedPtr p, cudaPos at) {
    Box box = {p.ptr, p.pitch, p.pitch * p.ysize};
    box.first = p.ptr != NULL ? row_at(&box, at.y, at.z) + at.x : NULL;
    return box;
}

static cudaError_t copy_3d(const char *call, Place place, const cudaMemcpy3DParms *p,
                           cudaStream_t stream, bool wait) {
    if (p == NULL) {
        return sim_error(cudaErrorInvalidValue, call, place, false);
    }
    if (p->srcArray != NULL || p->dstArray != NULL) {
        sim_report("unsupported", "%s at %s:%d: arrays of textures; copy plain memory", call,
                   sim_file(place), place.line);
        return sim_error(cudaErrorNotSupported, call, place, false);
    }
    return copy_rows(call, place, box_of(p->dstPtr, p->dstPos), box_of(p->srcPtr, p->srcPos),
                     (Extent){p->extent.width, p->extent.height, p->extent.depth}, p->kind, stream,
                     wait);
}

cudaError_t cudasim_memcpy_3d(const char *file, int line, const cudaMemcpy3DParms *p) {
    ENTER("cudaMemcpy3D", file, line);
    return copy_3d("cudaMemcpy3D", (Place){file, line}, p, NULL, true);
}

cudaError_t cudasim_memcpy_3d_async(const char *file, int line, const cudaMemcpy3DParms *p,
                                    cudaStream_t stream) {
    ENTER("cudaMemcpy3DAsync", file, line);
    return copy_3d("cudaMemcpy3DAsync", (Place){file, line}, p, stream, false);
}

/* ---- __device__ and __constant__ variables --------------------------------------------------- */

cudaError_t cudasim_memcpy_symbol(const char *file, int line, const char *call,
                                  cudaMemcpyKind usual, void *to, const void *from, size_t bytes,
                                  size_t size, size_t offset, const char *name,
                                  cudaMemcpyKind kind) {
    ENTER(call, file, line);
    Place place = {file, line};
    int slot;
    cudaError_t error = sim_may_submit(NULL, call, place, &slot);
    if (error != cudaSuccess) {
        return error;
    }
    if (!variable_is_symbol(call, name, usual == cudaMemcpyHostToDevice ? to : from, place)) {
        return sim_error(cudaErrorInvalidSymbol, call, place, false);
    }
    if (offset > size || bytes > size - offset) {
        sim_report("out-of-bounds access",
                   "%s at %s:%d: %zu byte%s from byte %zu on, but %s has %zu", call,
                   sim_file(place), line, bytes, bytes == 1 ? "" : "s", offset, name, size);
        return sim_error(cudaErrorInvalidValue, call, place, false);
    }
    const void *other = usual == cudaMemcpyHostToDevice ? from : to;
    if (kind == cudaMemcpyDefault) {
        kind = is_device(other) ? cudaMemcpyDeviceToDevice : usual;
    }
    if (kind != usual || is_device(other)) {
        variable_addressed(usual == cudaMemcpyHostToDevice ? to : from, size - offset);
        return copy(call, place, to, from, bytes, kind, NULL, true);
    }
    /* In the default stream, as each copy: it waits for no stream that is non-blocking. */
    const void *variable = usual == cudaMemcpyHostToDevice ? to : from;
    bool first = variable_addressed(variable, size - offset);
    error = copy(call, place, to, from, bytes, kind, NULL, true);
    if (first) {
        variable_forget(variable);
    }
    return error;
}
