#include "allocation.h"
#include "block.h"
#include "device.h"

/* Shared memory of the block that runs. A variable gets its place when a thread first comes to it,
   with a gap before the next one, so that overruns show. */

enum { APART = 64 /* bytes */ };

/* A plain loop: sanitizers look at memset(). */
static void poison(void *p, size_t bytes) {
    volatile unsigned char *byte = p;
    for (size_t i = 0; i < bytes; i++) {
        byte[i] = 0xFF;
    }
}

static int new_variable(SharedVariable *variable) {
    static int variables;
    int id = __atomic_add_fetch(&variables, 1, __ATOMIC_RELAXED), none = 0;
    if (id >= SHARED_VARIABLES) {
        sim_report("unsupported", "more than %d __shared__ variables", SHARED_VARIABLES - 1);
        sim_stop();
    }
    __atomic_compare_exchange_n(&variable->id, &none, id, false, __ATOMIC_RELAXED,
                                __ATOMIC_RELAXED);
    return variable->id;
}

/* The launch has asked for its dynamic part; what the kernel declares comes on top. */
static void check_sum(const Worker *worker) {
    const LaunchSite *site = &worker->launch->site;
    size_t limit = sim_shared_limit(site->kernel) > STATIC_SHARED ? DYNAMIC_SHARED : STATIC_SHARED;
    size_t sum = worker->shared_bytes + site->shared;
    if (sum > limit) {
        sim_report("launch failed",
                   "%s at %s:%d does not run on a GPU: it needs %zu bytes of "
                   "shared memory, the limit is %zu",
                   site->name, sim_file((Place){site->file, site->line}), site->line, sum, limit);
        sim_detail("%zu bytes in __shared__ variables and %zu that the launch asks for",
                   worker->shared_bytes, site->shared);
        sim_detail("on a GPU this is silent until you call cudaGetLastError(): \"%s\"",
                   cudaGetErrorString(cudaErrorInvalidValue));
        sim_stop();
    }
}

static void check_static_size(Worker *worker, const SharedVariable *variable) {
    if (worker->shared_bytes > STATIC_SHARED) {
        sim_report("launch failed", "%s: __shared__ variables take %zu bytes, more than %d",
                   worker->launch->site.name, worker->shared_bytes, STATIC_SHARED);
        sim_detail("the last is %s at %s:%d; nvcc refuses to compile this", variable->name,
                   sim_file((Place){variable->file, variable->line}), variable->line);
        sim_stop();
    }
}

void *cudasim_static_shared(SharedVariable *variable) {
    Worker *worker = sim_need_kernel(variable->name, (Place){variable->file, variable->line});
    int id = variable->id > 0 ? variable->id : new_variable(variable);
    if (worker->variable_block[id] == worker->block) {
        return worker->variable_at[id];
    }
    size_t offset = (worker->shared_used + APART + 127) / 128 * 128;
    worker->shared_bytes += variable->size;
    check_static_size(worker, variable);
    check_sum(worker);
    char *at = worker->shared + offset;
    worker->shared_used = offset + variable->size;
    worker->variable[id] = variable;
    worker->variable_at[id] = at;
    worker->variable_block[id] = worker->block;
    worker->variable_top = id > worker->variable_top ? id : worker->variable_top;
    poison(at, variable->size);
    check_fresh(at, variable->size);
    return at;
}

/* A function that names dynamic shared memory twice sees one memory by two names. */
static void check_only_name(Worker *worker, const char *name, const char *function, Place place) {
    static int reported;
    DynamicName *first = &worker->dynamic_name;
    bool same_function = first->name != NULL && strcmp(first->function, function) == 0 &&
                         strcmp(first->place.file, place.file) == 0;
    if (same_function && strcmp(first->name, name) != 0 && reported != place.line) {
        reported = place.line;
        sim_report("overlapping arrays",
                   "%s at %s:%d and %s at line %d are both extern __shared__, and begin at the "
                   "same byte",
                   name, sim_file(place), place.line, first->name, first->place.line);
        sim_detail("declare one array, and let the other begin where it ends: int *b = (int *)(a + "
                   "n)");
        sim_detail_thread();
    }
    if (!same_function) {
        *first = (DynamicName){name, function, place};
    }
}

void *cudasim_dynamic_shared(const char *name, const char *file, int line, const char *function) {
    Place place = {file, line};
    Worker *worker = sim_need_kernel(name, place);
    check_only_name(worker, name, function, place);
    return worker->dynamic;
}

/* ---- variables of a file --------------------------------------------------------------------- */

/* A function that has the name of such a variable begins with these calls; it may be the host's,
   and the name another thing. So the host gets an address that it cannot touch. */
static void *closed_to_host(void) {
    size_t bytes;
    sim_begin();
    return (void *)(uintptr_t)sim_device_range(&bytes);
}

static bool in_kernel(void) {
    return sim_worker != NULL && sim_worker->in_kernel;
}

void *cudasim_file_shared(SharedVariable *variable) {
    return in_kernel() ? cudasim_static_shared(variable) : closed_to_host();
}

void *cudasim_file_dynamic(const cudasim_shared_array *array, const char *function) {
    return in_kernel() ? cudasim_dynamic_shared(array->name, array->file, array->line, function)
                       : closed_to_host();
}

/* ---- addresses of 32 bits -------------------------------------------------------------------- */

enum { BASE = 1024 /* not at 0, which leads nowhere */, ALL = 1 << 20 };

size_t cudasim_shared_offset(const void *p, const char *file, int line) {
    const Worker *worker = sim_need_kernel("__cvta_generic_to_shared()", (Place){file, line});
    return (size_t)((const char *)p - worker->shared) + BASE;
}

void *cudasim_shared_pointer(size_t offset, const char *file, int line) {
    Place place = {file, line};
    Worker *worker = sim_need_kernel("an address of shared memory", place);
    if (offset < BASE || offset > ALL) {
        sim_report("out-of-bounds access", "%s:%d: 0x%zx is not an address of shared memory",
                   sim_file(place), line, offset);
        sim_detail("__cvta_generic_to_shared(p) makes one of a pointer");
        sim_detail_thread();
        sim_abort_block();
    }
    return worker->shared + (offset - BASE);
}

/* ---- the kinds of memory --------------------------------------------------------------------- */

/* On a GPU too, what is in no window of its own is global. */
int cudasim_space(const void *p, const char *file, int line) {
    const Worker *worker = sim_need_kernel("__isGlobal() and its like", (Place){file, line});
    const char *at = p;
    bool local =
        at >= worker->stacks && at < worker->stacks + (size_t)(MAX_THREADS + 1) * STACK_BYTES;
    bool shared = at >= worker->shared && at < worker->dynamic_end;
    return local              ? CUDASIM_LOCAL
           : shared           ? CUDASIM_SHARED
           : in_constants(at) ? CUDASIM_CONSTANT
                              : CUDASIM_GLOBAL;
}

/* ---- dynamic shared memory ------------------------------------------------------------------- */

void sim_detail_dynamic(void) {
    if (sim_worker->launch->site.shared == 0) {
        sim_detail("the third number between <<< and >>> is the size of extern __shared__ memory "
                   "in bytes");
    }
}

void sim_begin_dynamic_shared(Worker *worker) {
    size_t bytes = worker->launch->site.shared;
    worker->dynamic = worker->dynamic_end - ((bytes + 31) & ~(size_t)31);
    poison(worker->dynamic, bytes);
    check_fresh(worker->dynamic, bytes);
}
