#include <sys/mman.h>

#include "sim.h"

/* A copy is an operation of its stream. From and to pageable memory it is over when the call
   returns, as in CUDA; from and to pinned memory it is not, and until the host has waited for it
   the pages are closed: touching them is reported. */

typedef struct PendingCopy {
    char *to;
    const char *from;
    size_t bytes;
    int value; /* of a fill */
    void *staged;
} PendingCopy;

/* ---- pinned memory with a copy on its way ---------------------------------------------------- */

typedef struct Pending {
    Allocation *allocation;
    const char *begin, *end;
    bool written; /* by the operation: the host may not even read */
    const char *what;
    int slot;
    uint64_t number;
    Place place;
} Pending;

static Pending *pending;
static int pending_count, pending_room;

static void set_access(const Pending *p, int access) {
    uintptr_t first = (uintptr_t)p->begin & ~(uintptr_t)(PAGE - 1);
    mprotect((void *)first, (uintptr_t)p->end - first, access);
}

void sim_guard_pending(void) {
    int kept = 0;
    for (int i = 0; i < pending_count; i++) {
        const Pending *p = &pending[i];
        if (sim_host_ordered(p->slot, p->number) || !p->allocation->live) {
            p->allocation->open = p->allocation->live;
            if (p->allocation->live) {
                mprotect(p->allocation->pages, p->allocation->length, PROT_READ | PROT_WRITE);
            }
        } else {
            pending[kept++] = *p;
        }
    }
    pending_count = kept;
    for (int i = 0; i < pending_count; i++) {
        pending[i].allocation->open = false;
        set_access(&pending[i], pending[i].written ? PROT_NONE : PROT_READ);
    }
}

void sim_guard(const char *begin, size_t bytes, bool written, const Operation *operation) {
    Allocation *allocation = sim_allocation(begin);
    if (allocation == NULL || !(allocation->pinned || allocation->managed)) {
        return;
    }
    if (pending_count == pending_room) {
        pending_room = 2 * pending_room + 16;
        pending = sim_realloc(pending, (size_t)pending_room * sizeof *pending);
    }
    pending[pending_count++] = (Pending){allocation,        begin,           begin + bytes,
                                         written,           operation->what, operation->stream,
                                         operation->number, operation->place};
    sim_guard_pending();
}

static void report_pending(const Pending *work, const char *verb, const char *where) {
    bool is_copy = strncmp(work->what, "cudaMem", strlen("cudaMem")) == 0;
    if (is_copy) {
        sim_report("pending copy",
                   "host code at %s %s memory of a copy that may still be on its way", where, verb);
        sim_detail("the copy was begun at %s:%d", sim_file(work->place), work->place.line);
    } else {
        sim_report("pending kernel", "host code at %s %s memory that kernel %s may still use",
                   where, verb, work->what);
        sim_detail("the kernel was launched at %s:%d", sim_file(work->place), work->place.line);
    }
    sim_detail("wait with cudaStreamSynchronize or cudaEventSynchronize first");
}

bool sim_pending_copy(const char *p, bool write, const void *pc) {
    for (int i = 0; i < pending_count; i++) {
        const Pending *copy = &pending[i];
        if (p >= copy->begin && p < copy->end && (write || copy->written)) {
            char where[600];
            cudasim_describe_code(pc, where, sizeof where);
            report_pending(copy, write ? "writes" : "reads", where);
            return true;
        }
    }
    mprotect((void *)((uintptr_t)p & ~(uintptr_t)(PAGE - 1)), PAGE, PROT_READ | PROT_WRITE);
    return false;
}

/* ---- what may be copied ---------------------------------------------------------------------- */

static bool is_pinned(const void *p) {
    const Allocation *a = sim_allocation(p);
    return a != NULL && a->pinned && a->live;
}

/* One end of a copy: is it in the memory that the kind names, and does it fit? */
static bool good_end(const char *call, const char *end, const void *p, size_t bytes,
                     bool device_wanted, Place place) {
    bool device = sim_on_device(p);
    const Allocation *a = sim_allocation(p);
    if (p == NULL) {
        sim_report("null pointer", "%s at %s:%d: the %s is NULL", call, sim_file(place), place.line,
                   end);
        return false;
    }
    if (device != device_wanted && (a == NULL || !a->managed)) {
        sim_report("invalid copy", "%s at %s:%d: the %s is a %s pointer, but the direction says %s",
                   call, sim_file(place), place.line, end, device ? "DEVICE" : "HOST",
                   device_wanted ? "device" : "host");
        if (device) {
            sim_detail_address(p);
        }
        return false;
    }
    char what[100];
    snprintf(what, sizeof what, "%s, %s,", call, end);
    return !device || sim_check_range(what, p, bytes, place.file, place.line);
}

static bool apart(const char *call, const char *to, const char *from, size_t bytes, Place place) {
    if (to >= from + bytes || from >= to + bytes) {
        return true;
    }
    size_t away = (size_t)(to > from ? to - from : from - to);
    sim_report(
        "invalid copy",
        "%s at %s:%d: source and destination overlap by %zu of %zu bytes, which is undefined", call,
        sim_file(place), place.line, bytes - away, bytes);
    sim_detail("copy by way of another buffer, or with a kernel that says in which order");
    if (sim_on_device(to)) {
        sim_detail_address(to);
    }
    return false;
}

static bool use_end(const void *p, int slot, const char *call, Place place) {
    Allocation *a = sim_on_device(p) ? sim_allocation(p) : NULL;
    return a == NULL || sim_use(a, slot, call, place);
}

/* ---- copies ---------------------------------------------------------------------------------- */

static void run_copy(void *context) {
    PendingCopy *copy = context;
    bool to_device = sim_on_device(copy->to), from_device = sim_on_device(copy->from);
    if (from_device) {
        /* A copy within the device may copy memory that was never written. */
        sim_open(sim_allocation(copy->from));
        if (!to_device) {
            sim_touch(copy->from, copy->bytes, false);
        }
    }
    if (to_device) {
        sim_touch(copy->to, copy->bytes, true);
    }
    memmove(copy->to, copy->staged != NULL ? copy->staged : copy->from, copy->bytes);
    if (to_device && from_device) {
        check_copied(copy->to, copy->from, copy->bytes);
    }
}

static void release_copy(void *context) {
    PendingCopy *copy = context;
    free(copy->staged);
    free(copy);
}

static PendingCopy *new_copy(PendingCopy value, bool stage) {
    PendingCopy *copy = sim_realloc(NULL, sizeof *copy);
    *copy = value;
    if (stage) {
        copy->staged = sim_realloc(NULL, value.bytes);
        memcpy(copy->staged, copy->from, copy->bytes);
    }
    return copy;
}

static cudaError_t copy(const char *call, Place place, void *to, const void *from, size_t bytes,
                        cudaMemcpyKind kind, cudaStream_t stream, bool wait) {
    sim_begin();
    if (sim_device_error() != cudaSuccess || bytes == 0) {
        return sim_device_error();
    }
    bool any = kind == cudaMemcpyDefault;
    bool to_device = any ? sim_on_device(to)
                         : kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    bool from_device = any ? sim_on_device(from)
                           : kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
    int slot = sim_stream_slot(stream, call, place);
    if (slot < 0 || !good_end(call, "destination", to, bytes, to_device, place) ||
        !good_end(call, "source", from, bytes, from_device, place) ||
        !apart(call, to, from, bytes, place) || !use_end(to, slot, call, place) ||
        !use_end(from, slot, call, place)) {
        return sim_error(cudaErrorInvalidValue, call, place, false);
    }
    if (from_device && !to_device) {
        sim_event("fetch %zu", bytes);
    }
    bool stage = !wait && !from_device && !is_pinned(from);
    wait = wait ? !(to_device && from_device) : !to_device && !is_pinned(to);
    PendingCopy *work = new_copy((PendingCopy){to, from, bytes, 0, NULL}, stage);
    const Operation *operation =
        sim_submit_owned(stream, call, place, run_copy, work, release_copy);
    if (wait) {
        sim_wait_stream(slot);
    } else {
        sim_guard(to, bytes, true, operation);
        sim_guard(from, bytes, false, operation);
    }
    return sim_device_error();
}

cudaError_t cudasim_memcpy(const char *file, int line, void *to, const void *from, size_t bytes,
                           cudaMemcpyKind kind) {
    return copy("cudaMemcpy", (Place){file, line}, to, from, bytes, kind, NULL, true);
}

cudaError_t cudasim_memcpy_async(const char *file, int line, void *to, const void *from,
                                 size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
    return copy("cudaMemcpyAsync", (Place){file, line}, to, from, bytes, kind, stream, false);
}

static cudaError_t too_wide(const char *call, Place place, size_t width) {
    sim_report("invalid copy", "%s at %s:%d: rows of %zu bytes are wider than a pitch", call,
               sim_file(place), place.line, width);
    return sim_error(cudaErrorInvalidPitchValue, call, place, false);
}

/* PitchedRows, each `pitch` bytes after the one before. */
typedef struct PitchedRows {
    const char *first;
    size_t pitch;
} PitchedRows;

static cudaError_t copy_rows(const char *call, Place place, PitchedRows to, PitchedRows from,
                             size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream,
                             bool wait) {
    if (width > to.pitch || width > from.pitch) {
        return too_wide(call, place, width);
    }
    for (size_t row = 0; row < height; row++) {
        cudaError_t error = copy(call, place, (char *)(uintptr_t)to.first + row * to.pitch,
                                 from.first + row * from.pitch, width, kind, stream, wait);
        if (error != cudaSuccess) {
            return error;
        }
    }
    return sim_device_error();
}

cudaError_t cudasim_memcpy_2d(const char *file, int line, void *to, size_t to_pitch,
                              const void *from, size_t from_pitch, size_t width, size_t height,
                              cudaMemcpyKind kind) {
    return copy_rows("cudaMemcpy2D", (Place){file, line}, (PitchedRows){to, to_pitch},
                     (PitchedRows){from, from_pitch}, width, height, kind, NULL, true);
}

cudaError_t cudasim_memcpy_2d_async(const char *file, int line, void *to, size_t to_pitch,
                                    const void *from, size_t from_pitch, size_t width,
                                    size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
    return copy_rows("cudaMemcpy2DAsync", (Place){file, line}, (PitchedRows){to, to_pitch},
                     (PitchedRows){from, from_pitch}, width, height, kind, stream, false);
}

/* ---- fills ----------------------------------------------------------------------------------- */

static void run_fill(void *context) {
    const PendingCopy *fill = context;
    sim_touch(fill->to, fill->bytes, true);
    memset(fill->to, fill->value, fill->bytes);
}

static cudaError_t fill(const char *call, Place place, void *to, int value, size_t bytes,
                        cudaStream_t stream) {
    sim_begin();
    if (sim_device_error() != cudaSuccess || bytes == 0) {
        return sim_device_error();
    }
    int slot = sim_stream_slot(stream, call, place);
    if (slot < 0 || !good_end(call, "destination", to, bytes, true, place) ||
        !use_end(to, slot, call, place)) {
        return sim_error(cudaErrorInvalidValue, call, place, false);
    }
    sim_submit(stream, call, place.file, place.line, run_fill,
               &(PendingCopy){.to = to, .bytes = bytes, .value = value}, sizeof(PendingCopy));
    return sim_device_error();
}

cudaError_t cudasim_memset(const char *file, int line, void *to, int value, size_t bytes) {
    return fill("cudaMemset", (Place){file, line}, to, value, bytes, NULL);
}

cudaError_t cudasim_memset_async(const char *file, int line, void *to, int value, size_t bytes,
                                 cudaStream_t stream) {
    return fill("cudaMemsetAsync", (Place){file, line}, to, value, bytes, stream);
}

static cudaError_t fill_rows(const char *call, Place place, PitchedRows to, int value, size_t width,
                             size_t height, cudaStream_t stream) {
    if (width > to.pitch) {
        return too_wide(call, place, width);
    }
    for (size_t row = 0; row < height; row++) {
        cudaError_t error =
            fill(call, place, (char *)(uintptr_t)to.first + row * to.pitch, value, width, stream);
        if (error != cudaSuccess) {
            return error;
        }
    }
    return sim_device_error();
}

cudaError_t cudasim_memset_2d(const char *file, int line, void *to, size_t pitch, int value,
                              size_t width, size_t height) {
    return fill_rows("cudaMemset2D", (Place){file, line}, (PitchedRows){to, pitch}, value, width,
                     height, NULL);
}

cudaError_t cudasim_memset_2d_async(const char *file, int line, void *to, size_t pitch, int value,
                                    size_t width, size_t height, cudaStream_t stream) {
    return fill_rows("cudaMemset2DAsync", (Place){file, line}, (PitchedRows){to, pitch}, value,
                     width, height, stream);
}

/* ---- __device__ and __constant__ variables --------------------------------------------------- */

cudaError_t cudasim_memcpy_symbol(const char *file, int line, void *to, const void *from,
                                  size_t bytes, size_t room, const char *name) {
    Place place = {file, line};
    sim_begin();
    if (bytes > room) {
        sim_report("out-of-bounds access", "copy at %s:%d: %zu bytes, but %s has %zu",
                   sim_file(place), line, bytes, name, room);
        return sim_error(cudaErrorInvalidValue, "cudaMemcpyToSymbol", place, false);
    }
    sim_wait_device();
    memmove(to, from, bytes);
    return sim_device_error();
}
