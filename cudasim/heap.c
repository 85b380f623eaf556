#include <assert.h>

#include "allocation.h"
#include "block.h"
#include "device.h"
#include "host_heap.h"
#include "spin.h"

/* Functions of the C library that kernels call, and the host too: `make cu` gives these to both. A
   kernel's malloc() takes device memory, which lives until a kernel frees it. */

static int busy;

static bool in_kernel(void) {
    return sim_worker != NULL && sim_worker->in_kernel;
}

static size_t refused; /* bytes that a kernel did not get last; 0: none */

/* The heap of kernels is a part of the device's memory that does not grow. */
static Allocation *take(size_t bytes, Place launched) {
    SimDevice *device = device_of(sim_device());
    size_t limit = sim_heap_limit(sim_device());
    if (bytes > limit || device->heap > limit - bytes) {
        refused = bytes;
        return NULL;
    }
    Allocation *a = sim_allocate(sim_device(), bytes, false,
                                 "malloc by the kernel that was launched", launched);
    if (a != NULL) {
        a->by_kernel = true;
        device->heap += bytes;
    }
    return a;
}

void sim_detail_heap(void) {
    if (refused > 0) {
        sim_detail("malloc() in a kernel has returned NULL for %zu bytes: its heap has %zu, "
                   "cudaDeviceSetLimit(cudaLimitMallocHeapSize, bytes) asks for more",
                   refused, sim_heap_limit(sim_device()));
    }
}

void *cudasim_in_malloc(size_t bytes) {
    if (!in_kernel()) {
        return host_heap_took(malloc(bytes), bytes);
    }
    if (bytes == 0) {
        return NULL;
    }
    const LaunchSite *site = &sim_worker->launch->site;
    sim_in_turn(sim_worker);
    spin_lock(&busy);
    check_once();
    Allocation *a = take(bytes, (Place){site->file, site->line});
    spin_unlock(&busy);
    return a != NULL ? a->base : NULL;
}

/* These two are the host's alone. */
void *cudasim_in_calloc(size_t count, size_t bytes) {
    return host_heap_took(calloc(count, bytes), count * bytes);
}

void *cudasim_in_realloc(void *p, size_t bytes) {
    if (p != NULL) {
        host_heap_gives_back(p);
    }
    return host_heap_took(realloc(p, bytes), bytes);
}

static void report_free(const char *kind, const char *what, const void *p, const void *pc) {
    char where[600];
    cudasim_describe_code(pc, where, sizeof where);
    sim_report(kind, "free() at %s: %s", where, what);
    sim_detail_thread();
    if (sim_on_device(p)) {
        sim_detail_address(p);
    }
}

static void free_in_kernel(void *p, const void *pc) {
    const LaunchSite *site = &sim_worker->launch->site;
    sim_in_turn(sim_worker);
    Allocation *a = sim_on_device(p) ? sim_allocation(p) : NULL;
    if (a == NULL || a->base != p || !a->by_kernel) {
        report_free("invalid free", "this is not what malloc() in a kernel has returned", p, pc);
    } else if (a->given_back) {
        report_free("double free", "this was freed before", p, pc);
    } else {
        spin_lock(&busy);
        check_once();
        a->given_back = true;
        a->freed = (Place){site->file, site->line};
        sim_retire(a);
        spin_unlock(&busy);
    }
}

/* The C library would only abort. */
static void refuse_on_host(const void *p, const void *pc) {
    char where[600];
    cudasim_describe_code(pc, where, sizeof where);
    sim_report("invalid free", "free() of %s memory at %s", sim_on_device(p) ? "device" : "pinned",
               where);
    sim_detail_address(p);
    sim_detail("%s is what frees it", sim_on_device(p) ? "cudaFree" : "cudaFreeHost");
    sim_stop();
}

void cudasim_in_free(void *p) {
    const void *pc = __builtin_return_address(0);
    if (p == NULL) {
        return;
    }
    if (in_kernel()) {
        free_in_kernel(p, pc);
    } else if (sim_allocation(p) != NULL || sim_on_device(p)) {
        refuse_on_host(p, pc);
    } else {
        sim_refuse_registered(p, pc);
        sim_host_frees(p);
        host_heap_gives_back(p);
        free(p);
    }
}

void cudasim_in___assert_fail(const char *condition, const char *file, unsigned line,
                              const char *function) {
    if (!in_kernel()) {
        __assert_fail(condition, file, line, function);
    }
    sim_report("launch failed", "assertion %s fails at %s:%u", condition,
               sim_file((Place){file, (int)line}), line);
    sim_detail_thread();
    sim_stop();
}

/* nvcc knows these two only on the host. */
static void refuse_end(const char *function, const void *pc) {
    char where[600];
    if (in_kernel()) {
        cudasim_describe_code(pc, where, sizeof where);
        sim_report("unsupported", "%s() in a kernel, at %s: only the host can end the program",
                   function, where);
        sim_detail("nvcc does not compile this: a thread ends with return, __trap() stops a "
                   "kernel as a failure");
        sim_detail_thread();
        sim_stop();
    }
}

void cudasim_in_exit(int status) {
    refuse_end("exit", __builtin_return_address(0));
    exit(status);
}

void cudasim_in_abort(void) {
    refuse_end("abort", __builtin_return_address(0));
    abort();
}

/* new and delete, by the names that compilers give them. */
#define ALIAS(name) __attribute__((alias(#name)))
void *cudasim_in__Znwm(size_t bytes) ALIAS(cudasim_in_malloc);
void *cudasim_in__Znam(size_t bytes) ALIAS(cudasim_in_malloc);
void cudasim_in__ZdlPv(void *p) ALIAS(cudasim_in_free);
void cudasim_in__ZdaPv(void *p) ALIAS(cudasim_in_free);

void cudasim_in__ZdlPvm(void *p, size_t bytes) {
    (void)bytes;
    cudasim_in_free(p);
}

void cudasim_in__ZdaPvm(void *p, size_t bytes) {
    (void)bytes;
    cudasim_in_free(p);
}
