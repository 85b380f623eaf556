#include "common/unset.h"
#include "device.h"
#include "operation.h"
#include "quick.h"

const bool sim_checking = true;

/* ---- the checks of one access ---------------------------------------------------------------- */

/* The last report of the compiler's own check. */
static struct {
    const char *kind;
    char place[300];
} compiler_said;

void check_compiler_says(const char *kind, Place place) {
    compiler_said.kind = kind;
    snprintf(compiler_said.place, sizeof compiler_said.place, "%s:%d ", sim_file(place),
             place.line);
}

static bool said_by_compiler(const char *kind, const char *where) {
    return compiler_said.kind != NULL && strcmp(kind, compiler_said.kind) == 0 &&
           strncmp(where, compiler_said.place, strlen(compiler_said.place)) == 0;
}

bool report_access(const char *kind, const Access *access, const char *what) {
    char where[600];
    if (!first_report(kind, access->site, access->write)) {
        return false;
    }
    describe_site(access->site, where, sizeof where);
    if (said_by_compiler(kind, where)) {
        return false;
    }
    sim_report(kind, "%s of %zu bytes%s at %s", access->write ? "write" : "read", access->bytes,
               what, where);
    sim_detail_thread();
    detail_memory(access->p, access->shared);
    return true;
}

/* Of memory of the device, or pinned memory. */
static bool allocation_bounds(const Access *access) {
    const Allocation *a = sim_allocation(access->p);
    if (a != NULL && !a->live) {
        report_access("use after free", access,
                      a->pinned ? " of freed pinned memory" : " of freed device memory");
        sim_stop();
    }
    if (a == NULL || access->p < a->base || access->p + access->bytes > a->base + a->bytes) {
        report_access("out-of-bounds access", access, "");
        return false;
    }
    return true;
}

/* For the launch's second run. */
static void note_written(const Access *access) {
    if (access->write) {
        replay_written(access->p, access->bytes);
    }
}

static void note_elsewhere(const Access *access) {
    if (access->write) {
        replay_elsewhere(access->p, access->bytes);
    }
}

/* Whether the host has written it is not known; races are looked for in what CUDA has given out. */
static void check_pinned(const Access *access) {
    if (!sim_registered(access->p) && allocation_bounds(access)) {
        check_mapped();
        race_access(access);
    }
    note_elsewhere(access);
}

/* A variable of the program: of the device, or else the host's, which nvcc lets no kernel name. */
static void check_variable(const Access *access) {
    const char *name = variable_of_host(access->p);
    char text[100];
    if (name != NULL) {
        snprintf(text, sizeof text, " of %.50s, a variable of the host,", name);
        if (report_access("host memory in a kernel", access, text)) {
            sim_detail("give the kernel its value as an argument, or declare it __device__ or "
                       "__constant__");
        }
    }
}

static void check_constant(const Access *access) {
    if (access->write && in_constants(access->p) &&
        report_access("constant written", access, " in __constant__ memory")) {
        sim_detail("kernels only read it, a GPU loses the store or stops: cudaMemcpyToSymbol() "
                   "writes it, or make the variable __device__");
    }
}

/* Thread-local variables: threadIdx and its like. */
static bool in_thread_locals(const char *p) {
    uintptr_t first = (uintptr_t)&threadIdx - THREAD_LOCALS;
    return (uintptr_t)p - first < 2 * THREAD_LOCALS;
}

static double looked_at;

double cudasim_accesses(void) {
    return looked_at + quick_accesses();
}

static bool in_stacks(const Worker *worker, const char *p) {
    return p >= worker->stacks && p < worker->stacks + (size_t)(MAX_THREADS + 1) * STACK_BYTES;
}

/* Each thread has a stack of its own; on a GPU the same addresses mean the thread's own memory. */
static void check_own_stack(const Worker *worker, const Access *access) {
    const char *own = worker->fiber->stack;
    if (access->p < own || access->p >= own + STACK_BYTES) {
        if (report_access("another thread's local", access,
                          " of a local variable of another thread,")) {
            sim_detail("on a GPU the address leads to the thread's own local memory: share values "
                       "through __shared__ memory or a shuffle");
        }
    }
}

/* Each thread copies the kernel's parameters to its stack; a compiler may call memcpy() for it. */
static bool in_parameters(const Launch *launch, const char *p) {
    return (uintptr_t)p - (uintptr_t)launch->arguments < launch->argument_bytes;
}

/* A lambda runs on the device, and what it has captured may still lead to the host. */
static void detail_host_memory(Site site) {
    char where[600];
    describe_site(site, where, sizeof where);
    if (strstr(where, "(operator()") == NULL) {
        sim_detail("a kernel can only use memory from cudaMalloc: copy the data there first");
    } else {
        sim_detail("a lambda that names a member holds `this`, and one with [&] addresses, both of "
                   "the host: copy the value to a local variable, and capture that with [=]");
        sim_detail("a pointer that it has captured with [=] leads where it led before: to the "
                   "host's memory, if it is not from cudaMalloc");
    }
}

void check_access(const void *address, size_t bytes, bool write, bool aligned, bool is_volatile,
                  Site site) {
    Worker *worker = sim_worker;
    if (replay_runs()) {
        replay_access(address, bytes);
        return;
    }
    const char *p = address;
    Access access = {p, bytes, write, false, false, is_volatile, site};
    if (in_stacks(worker, p)) {
        check_own_stack(worker, &access);
        return;
    }
    if (in_thread_locals(p) || unset_address((uintptr_t)p)) { /* the fault to come says it */
        return;
    }
    if (aligned && ((uintptr_t)p & (bytes - 1)) != 0) {
        report_access("misaligned access", &access, ", whose address is not a multiple of that,");
    }
    if (sim_on_device(p)) {
        looked_at++;
        note_written(&access); /* past the end too: that is said, and need not be said twice */
        if (allocation_bounds(&access)) {
            check_written(&access);
            race_access(&access);
            profile_access(&access);
            share_moved(bytes);
            traffic_access(p, bytes, write);
        }
    } else if (p >= worker->shared && p < worker->dynamic_end + PAGE) {
        access.shared = true;
        looked_at++;
        if (shared_bounds(worker, &access)) {
            check_written(&access);
            race_access(&access);
            profile_access(&access);
        } else {
            report_access("out-of-bounds access", &access, " of shared memory");
        }
    } else if (in_image(p)) {
        check_variable(&access);
        check_constant(&access);
        race_access(&access);
        note_elsewhere(&access);
    } else if (sim_allocation(p) != NULL || sim_registered(p)) {
        check_pinned(&access);
    } else if ((uintptr_t)p >= PAGE && !in_parameters(worker->launch, p)) {
        if (report_access("host memory in a kernel", &access, "")) {
            detail_host_memory(site);
        }
    }
}

static void look_at_atomic(const void *address, size_t bytes, Site site) {
    Worker *worker = sim_worker;
    const char *p = address;
    if (replay_runs()) {
        replay_access(p, bytes);
        return;
    }
    race_flush(false);
    bool shared = p >= worker->shared && p < worker->dynamic_end;
    Access access = {p, bytes, true, true, shared, false, site};
    if (in_stacks(worker, p)) {
        check_own_stack(worker, &access);
        return;
    }
    if (((uintptr_t)p & (bytes - 1)) != 0) {
        report_access("misaligned access", &access, ", whose address is not a multiple of that,");
    }
    if (sim_on_device(p)) {
        note_written(&access);
    }
    if (sim_on_device(p) ? allocation_bounds(&access) : shared && shared_bounds(worker, &access)) {
        check_written(&access);
        race_access(&access);
        profile_access(&access);
        if (!shared) {
            traffic_access(p, bytes, false);
            traffic_access(p, bytes, true);
            share_moved(bytes);
        }
    } else if (shared) {
        report_access("out-of-bounds access", &access, " of shared memory");
    } else if (in_image(p)) {
        check_variable(&access);
        check_constant(&access);
        race_access(&access);
        note_elsewhere(&access);
    } else if (sim_allocation(p) != NULL || sim_registered(p)) {
        check_pinned(&access);
    }
}

void check_atomic(const void *address, size_t bytes, Site site) {
    look_at_atomic(address, bytes, site);
    race_compares(NULL);
}

/* ---- what sim.h and block.h ask for ---------------------------------------------------------- */

void check_fresh(const void *p, size_t bytes) {
    shadow_mark(p, bytes, false);
    if (sim_on_device(p) || sim_in_pinned(p)) {
        race_forget(p, bytes);
    }
}

void check_other(const void *p, size_t bytes) {
    race_forget(p, bytes);
}

void check_once(void) {
    replay_give_up();
}

long long check_clock(long long now) {
    return replay_clock(now);
}

void check_filled(const void *p, size_t bytes) {
    shadow_mark(p, bytes, true);
}

void check_range(const void *p, size_t bytes, bool write) {
    if (!write) {
        check_range_written(p, bytes);
    }
    if (write) {
        shadow_mark(p, bytes, true);
    }
    race_range(p, bytes, write);
    traffic_access(p, bytes, write);
}

void check_order(const void *p, size_t bytes, bool write) {
    race_range(p, bytes, write);
}

void check_padded(const void *p, size_t bytes, size_t padding) {
    shadow_pad(p, bytes, padding);
}

void check_copied(void *to, const void *from, size_t bytes) {
    shadow_copy(to, from, bytes);
    race_range(from, bytes, false);
    traffic_access(from, bytes, false);
}

void check_pause(void) {
    quick_forget();
    if (replay_runs()) {
        replay_pause();
    } else {
        race_flush(false);
        race_settle();
    }
}

void check_launch_begins(const Launch *launch) {
    race_launch();
    profile_launch_begins(launch);
    replay_begin();
    quick_begin();
}

void check_landed(const void *p, size_t bytes, Place place) {
    shadow_mark(p, bytes, true);
    if (!replay_runs()) {
        race_flush(false);
        race_access(&(Access){
            .p = p, .bytes = bytes, .write = true, .shared = true, .site = site_of_place(place)});
    }
}

void check_epoch(void) {
    race_launch();
    quick_begin();
}

bool check_launch_again(const Launch *launch) {
    held_release();
    profile_launch_ends();
    share_launch_ends(launch);
    bool again = replay_again(launch);
    quick_begin();
    return again;
}

void check_launch_ends(const Launch *launch) {
    replay_end(launch);
}

void check_diverged(void) {
    Site site, other;
    char here[600], there[600];
    if (held_forget_block("race", sim_worker->block, &site, &other)) {
        describe_site(site, here, sizeof here);
        describe_site(other, there, sizeof there);
        sim_detail("if a condition before the barrier depends on what threads race for at %s and "
                   "%s, mend that first: there a __syncthreads() is missing",
                   here, there);
    }
}

void cudasim_compares(const volatile void *p) {
    race_compares((const void *)(uintptr_t)p);
}

void check_opened(Allocation *allocation) {
    replay_opened(allocation);
}

bool check_mute(void) {
    race_settle();
    return replay_astray();
}

void check_waited(void) {
    held_release();
}

void check_stop(void) {
    held_release_all();
    replay_stopped();
}
