#include "block.h"

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
    char *at = worker->shared + offset;
    worker->shared_used = offset + variable->size;
    worker->variable[id] = variable;
    worker->variable_at[id] = at;
    worker->variable_block[id] = worker->block;
    poison(at, variable->size);
    check_fresh(at, variable->size);
    return at;
}

void *cudasim_dynamic_shared(const char *name, const char *file, int line) {
    Place place = {file, line};
    Worker *worker = sim_need_kernel(name, place);
    if (worker->launch->site.shared == 0 && !worker->no_dynamic_reported) {
        worker->no_dynamic_reported = true;
        sim_report("out-of-bounds access",
                   "extern __shared__ %s at %s:%d, but the launch asks for 0 bytes of it", name,
                   sim_file(place), line);
        sim_detail("the third number between <<< and >>> is the size in bytes");
        sim_detail_thread();
    }
    return worker->dynamic;
}

void sim_begin_dynamic_shared(Worker *worker) {
    size_t bytes = worker->launch->site.shared;
    worker->dynamic = worker->dynamic_end - ((bytes + 15) & ~(size_t)15);
    poison(worker->dynamic, bytes);
    check_fresh(worker->dynamic, bytes);
}
