#include "device.h"
#include "heap_block.h"
#include "queue.h"

/* Memory that the host and kernels share. Managed memory is device memory that is open to the host
   too, as long as no kernel or copy that was given it is queued; pinned memory is the host's, and a
   kernel may use it as it is; with cudaHostRegister() so is any memory of the host. */

enum { MOST_MANAGED = 4096, MOST_REGISTERED = 256 };

static Allocation *managed[MOST_MANAGED];
static int managed_count;

static struct {
    const char *begin, *end;
    unsigned flags; /* of cudaHostRegister() */
    Place place;
} registered[MOST_REGISTERED];
static int registered_count;

/* ---- managed memory -------------------------------------------------------------------------- */

static void forget_freed(void) {
    int kept = 0;
    for (int i = 0; i < managed_count; i++) {
        if (managed[i]->managed && managed[i]->live) {
            managed[kept++] = managed[i];
        }
    }
    managed_count = kept;
}

void sim_show_managed(bool to_host) {
    forget_freed();
    for (int i = 0; i < managed_count; i++) {
        sim_set_open(managed[i], to_host);
    }
}

void sim_guard_shared(const Operation *operation) {
    for (int i = 0; i < managed_count; i++) {
        const Allocation *a = managed[i];
        if (a->live && use_number(a, operation->stream) == operation->number) {
            sim_guard(a->base, a->bytes, true, operation);
        }
    }
}

cudaError_t cudasim_malloc_managed(const char *file, int line, void **p, size_t bytes,
                                   unsigned flags) {
    ENTER("cudaMallocManaged", file, line);
    Place place = {file, line};
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) {
        return sim_error(cudaErrorInvalidValue, "cudaMallocManaged", place, false);
    }
    forget_freed();
    if (managed_count == MOST_MANAGED) {
        fprintf(stderr, "[cudasim] %s:%d: at most %d managed allocations\n", file, line,
                MOST_MANAGED);
        return sim_error(cudaErrorMemoryAllocation, "cudaMallocManaged", place, false);
    }
    cudaError_t error = cudasim_malloc(file, line, p, bytes);
    Allocation *a = error == cudaSuccess ? sim_allocation(*p) : NULL;
    if (a != NULL) {
        a->managed = true;
        a->maker = "cudaMallocManaged";
        managed[managed_count++] = a;
        /* Stores of the host are not seen, so all of it counts as written. */
        check_filled(a->base, a->bytes);
        check_managed();
        sim_set_open(a, true);
    }
    return error;
}

cudaError_t cudasim_use_managed(const char *file, int line, const char *call, const void *p,
                                size_t bytes) {
    ENTER("cudaMemPrefetchAsync", file, line);
    Place place = {file, line};
    const Allocation *a = sim_allocation(p);
    if (!sim_check_range(call, p, bytes, file, line)) {
        return sim_error(cudaErrorInvalidValue, call, place, false);
    }
    if (!a->managed) {
        sim_report("invalid copy", "%s at %s:%d: memory from %s is not managed", call,
                   sim_file(place), line, a->maker);
        return sim_error(cudaErrorInvalidValue, call, place, false);
    }
    return sim_device_error();
}

/* ---- the host's memory ----------------------------------------------------------------------- */

/* @return -1: p is in no such memory */
static int registered_at(const volatile void *p) {
    for (int i = 0; i < registered_count; i++) {
        if ((const char *)p >= registered[i].begin && (const char *)p < registered[i].end) {
            return i;
        }
    }
    return -1;
}

bool sim_registered(const volatile void *p) {
    return registered_at(p) >= 0;
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *p) {
    ENTER("cudaHostGetFlags", NULL, 0);
    const Allocation *a = sim_allocation(p);
    int i = registered_at(p);
    if (i < 0 && (a == NULL || !a->pinned || !a->live)) {
        return cudaErrorInvalidValue;
    }
    *flags = i >= 0 ? registered[i].flags : a->flags;
    return sim_device_error();
}

cudaError_t cudasim_host_register(const char *file, int line, void *p, size_t bytes,
                                  unsigned flags) {
    ENTER("cudaHostRegister", file, line);
    Place place = {file, line};
    cudaError_t error = sim_may_allocate("cudaHostRegister", place);
    if (error != cudaSuccess) {
        return error;
    }
    if (p == NULL || bytes == 0 || sim_allocation(p) != NULL) {
        return sim_error(cudaErrorInvalidValue, "cudaHostRegister", place, false);
    }
    if (sim_registered(p)) {
        return sim_error(cudaErrorHostMemoryAlreadyRegistered, "cudaHostRegister", place, false);
    }
    if (registered_count == MOST_REGISTERED) {
        return sim_error(cudaErrorMemoryAllocation, "cudaHostRegister", place, false);
    }
    registered[registered_count].begin = p;
    registered[registered_count].flags = flags;
    registered[registered_count].place = place;
    registered[registered_count++].end = (const char *)p + bytes;
    return sim_device_error();
}

cudaError_t cudasim_host_unregister(const char *file, int line, void *p) {
    ENTER("cudaHostUnregister", file, line);
    Place place = {file, line};
    cudaError_t error = sim_may_allocate("cudaHostUnregister", place);
    if (error != cudaSuccess) {
        return error;
    }
    sim_wait_all();
    for (int i = 0; i < registered_count; i++) {
        if (registered[i].begin == p) {
            registered[i] = registered[--registered_count];
            return sim_device_error();
        }
    }
    sim_report("invalid free", "cudaHostUnregister at %s:%d: no registered memory begins here",
               sim_file(place), line);
    return sim_error(cudaErrorHostMemoryNotRegistered, "cudaHostUnregister", place, false);
}

void sim_refuse_registered(const char *begin, const void *pc) {
    if (registered_count == 0 || !sim_enter_if_free()) {
        return;
    }
    const char *end = begin + block_room(begin);
    for (int i = 0; i < registered_count; i++) {
        if (registered[i].begin >= begin && registered[i].begin < end) {
            char where[600];
            cudasim_describe_code(pc, where, sizeof where);
            sim_report("invalid free", "free() of registered memory at %s", where);
            sim_detail(
                "it was given to cudaHostRegister at %s:%d: cudaHostUnregister() comes first",
                sim_file(registered[i].place), registered[i].place.line);
            sim_stop();
        }
    }
    sim_leave_fault();
}

cudaError_t cudasim_host_device_pointer(const char *file, int line, void **device_p, void *host_p,
                                        unsigned flags) {
    ENTER("cudaHostGetDevicePointer", file, line);
    Place place = {file, line};
    const Allocation *a = sim_allocation(host_p);
    if (flags != 0 || (!sim_registered(host_p) && (a == NULL || !a->pinned || !a->live))) {
        sim_report("host pointer passed to a kernel",
                   "cudaHostGetDevicePointer at %s:%d: the memory is not pinned", sim_file(place),
                   line);
        sim_detail("take it from cudaMallocHost, or tell cudaHostRegister of it");
        return sim_error(cudaErrorInvalidValue, "cudaHostGetDevicePointer", place, false);
    }
    *device_p = host_p;
    return sim_device_error();
}
