#define _GNU_SOURCE
#include <dlfcn.h>

#include "check.h"

const bool sim_checking = true;

/* ---- sites ----------------------------------------------------------------------------------- */

enum { PLACES = 4096, REPORTED = 1024 };
static const Site IS_PLACE = 0x80000000u;
static Place places[PLACES];
static Site place_count;

static const char *image_base(void) {
    static const char *base;
    Dl_info image;
    if (base == NULL && dladdr((const void *)(uintptr_t)image_base, &image) != 0) {
        base = image.dli_fbase;
    }
    return base;
}

Site site_of_code(const void *pc) {
    return (Site)((const char *)pc - image_base()) & ~IS_PLACE;
}

Site site_of_place(Place place) {
    for (Site i = 0; i < place_count; i++) {
        if (places[i].line == place.line && places[i].file == place.file) {
            return i | IS_PLACE;
        }
    }
    if (place_count < PLACES) {
        places[place_count++] = place;
    }
    return (place_count - 1) | IS_PLACE;
}

void describe_site(Site site, char *text, size_t size) {
    if (site & IS_PLACE) {
        Place place = places[site & ~IS_PLACE];
        snprintf(text, size, "%s:%d", sim_file(place), place.line);
    } else {
        cudasim_describe_code(image_base() + site, text, size);
    }
}

bool first_report(const char *kind, Site site, Site other) {
    static struct {
        const char *kind;
        Site site, other;
    } reported[REPORTED];
    static int count;
    for (int i = 0; i < count; i++) {
        if (reported[i].kind == kind && reported[i].site == site && reported[i].other == other) {
            return false;
        }
    }
    if (count < REPORTED) {
        reported[count].kind = kind;
        reported[count].site = site;
        reported[count++].other = other;
    }
    return true;
}

/* ---- shared memory --------------------------------------------------------------------------- */

/* The variable of this block that holds or is nearest to p; its distance in bytes. */
static const SharedVariable *variable_near(const Worker *worker, const char *p, ptrdiff_t *away) {
    const SharedVariable *nearest = NULL;
    *away = PTRDIFF_MAX;
    for (int id = 1; id < SHARED_VARIABLES && worker->variable[id] != NULL; id++) {
        if (worker->variable_block[id] != worker->block) {
            continue;
        }
        const char *begin = worker->variable_at[id];
        const char *end = begin + worker->variable[id]->size;
        ptrdiff_t distance = p < begin ? begin - p : p >= end ? p - end + 1 : 0;
        if (distance < *away) {
            *away = distance;
            nearest = worker->variable[id];
        }
    }
    return nearest;
}

static bool in_dynamic(const Worker *worker, const char *p) {
    return p >= worker->dynamic && p < worker->dynamic_end;
}

void detail_memory(const char *p, bool shared) {
    const Worker *worker = sim_worker;
    if (sim_on_device(p)) {
        sim_detail_address(p);
        return;
    }
    if (!shared) {
        sim_detail("address is %p, in no allocation; perhaps in a __device__ variable", p);
        return;
    }
    ptrdiff_t away;
    const SharedVariable *v = variable_near(worker, p, &away);
    if (in_dynamic(worker, p) || (v == NULL && worker->launch->site.shared > 0)) {
        sim_detail("address is byte %td of dynamic shared memory; the launch asks for %zu bytes",
                   p - worker->dynamic, worker->launch->site.shared);
    } else if (v != NULL) {
        char where[40] = "in";
        if (away > 0) {
            snprintf(where, sizeof where, "%td bytes away from", away);
        }
        sim_detail("address is %s __shared__ %s (%zu bytes, declared at %s:%d)", where, v->name,
                   v->size, sim_file((Place){v->file, v->line}), v->line);
    }
}

static bool shared_bounds(const Worker *worker, const Access *access) {
    const char *end = access->p + access->bytes;
    if (access->p >= worker->dynamic && end <= worker->dynamic + worker->launch->site.shared) {
        return true;
    }
    for (int id = 1; id < SHARED_VARIABLES && worker->variable[id] != NULL; id++) {
        if (worker->variable_block[id] == worker->block && access->p >= worker->variable_at[id] &&
            end <= worker->variable_at[id] + worker->variable[id]->size) {
            return true;
        }
    }
    return false;
}

/* ---- the checks of one access ---------------------------------------------------------------- */

/* False if the line has been reported before. */
static bool report(const char *kind, const Access *access, const char *what) {
    char where[600];
    if (!first_report(kind, access->site, access->write)) {
        return false;
    }
    describe_site(access->site, where, sizeof where);
    sim_report(kind, "%s of %zu bytes%s at %s", access->write ? "write" : "read", access->bytes,
               what, where);
    sim_detail_thread();
    detail_memory(access->p, access->shared);
    return true;
}

static bool device_bounds(const Access *access) {
    const Allocation *a = sim_allocation(access->p);
    if (a != NULL && !a->live) {
        report("use after free", access, " of freed device memory");
        sim_stop();
    }
    if (a == NULL || access->p < a->base || access->p + access->bytes > a->base + a->bytes) {
        report("out-of-bounds access", access, "");
        return false;
    }
    return true;
}

static void check_written(const Access *access) {
    bool reads = !access->write || access->atomic;
    if (reads && !shadow_written(access->p, access->bytes)) {
        Access read = *access;
        read.write = false;
        if (report(access->shared ? "uninitialized shared memory" : "uninitialized device memory",
                   &read, " that nothing has written") &&
            !access->shared) {
            sim_detail("cudaMalloc does not clear memory: a forgotten cudaMemcpy or cudaMemset?");
        }
        shadow_mark(access->p, access->bytes, true);
    }
    if (access->write) {
        shadow_mark(access->p, access->bytes, true);
    }
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

static bool in_image(const char *p) {
#ifdef __linux__
    extern char __executable_start[], _end[];
    return p >= __executable_start && p < _end;
#else
    Dl_info image;
    return dladdr(p, &image) != 0;
#endif
}

/* Thread-local variables: threadIdx and its like. */
static bool in_thread_locals(const char *p) {
    uintptr_t here = (uintptr_t)&threadIdx;
    return (uintptr_t)p > here - 65536 && (uintptr_t)p < here + 65536;
}

void check_access(const void *address, size_t bytes, bool write, bool aligned, Site site) {
    Worker *worker = sim_worker;
    if (replay_runs()) {
        replay_access(address, bytes);
        return;
    }
    const char *p = address;
    const char *stacks = worker->stacks;
    if (p >= stacks && p < stacks + (size_t)(MAX_THREADS + 1) * STACK_BYTES) {
        return;
    }
    if (in_thread_locals(p)) {
        return;
    }
    Access access = {p, bytes, write, false, false, site};
    if (aligned && ((uintptr_t)p & (bytes - 1)) != 0) {
        report("misaligned access", &access, ", whose address is not a multiple of that,");
    }
    if (sim_on_device(p)) {
        note_written(&access); /* past the end too: that is said, and need not be said twice */
        if (device_bounds(&access)) {
            check_written(&access);
            race_access(&access);
            profile_access(&access);
            share_access(&access);
            traffic_access(p, bytes, write);
        }
    } else if (p >= worker->shared && p < worker->dynamic_end + PAGE) {
        access.shared = true;
        if (shared_bounds(worker, &access)) {
            check_written(&access);
            race_access(&access);
            profile_access(&access);
        } else {
            report("out-of-bounds access", &access, " of shared memory");
        }
    } else if (in_image(p)) {
        race_access(&access);
        note_elsewhere(&access);
    } else if (sim_allocation(p) != NULL || sim_registered(p)) {
        note_elsewhere(&access); /* pinned */
    } else if ((uintptr_t)p >= PAGE) {
        if (report("host memory in a kernel", &access, "")) {
            sim_detail("a kernel can only use memory from cudaMalloc: copy the data there first");
        }
    }
}

void check_atomic(const void *address, size_t bytes, Site site) {
    Worker *worker = sim_worker;
    const char *p = address;
    if (replay_runs()) {
        replay_access(p, bytes);
        return;
    }
    race_flush();
    bool shared = p >= worker->shared && p < worker->dynamic_end;
    Access access = {p, bytes, true, true, shared, site};
    if (sim_on_device(p)) {
        note_written(&access);
    }
    if (sim_on_device(p) ? device_bounds(&access) : shared && shared_bounds(worker, &access)) {
        check_written(&access);
        race_access(&access);
        profile_access(&access);
        if (!shared) {
            traffic_access(p, bytes, false);
            traffic_access(p, bytes, true);
            share_access(&access);
        }
    } else if (shared) {
        report("out-of-bounds access", &access, " of shared memory");
    } else if (in_image(p)) {
        race_access(&access);
        note_elsewhere(&access);
    } else if (sim_allocation(p) != NULL || sim_registered(p)) {
        note_elsewhere(&access); /* pinned */
    }
}

/* ---- what sim.h and block.h ask for ---------------------------------------------------------- */

void check_fresh(const void *p, size_t bytes) {
    shadow_mark(p, bytes, false);
    if (sim_on_device(p)) {
        race_forget(p, bytes);
    }
}

void check_once(void) {
    replay_give_up();
}

void check_filled(const void *p, size_t bytes) {
    shadow_mark(p, bytes, true);
}

void check_range(const void *p, size_t bytes, bool write) {
    const Operation *operation = sim_operation();
    if (!write && !shadow_written(p, bytes)) {
        Site site = site_of_place(operation->place);
        if (first_report("uninitialized device memory", site, 0)) {
            sim_report("uninitialized device memory",
                       "%s at %s:%d reads bytes that nothing has written", operation->what,
                       sim_file(operation->place), operation->place.line);
            sim_detail_address(p);
        }
    }
    if (write) {
        shadow_mark(p, bytes, true);
    }
    race_range(p, bytes, write);
    traffic_access(p, bytes, write);
}

void check_copied(void *to, const void *from, size_t bytes) {
    shadow_copy(to, from, bytes);
}

void check_pause(void) {
    if (replay_runs()) {
        replay_pause();
    } else {
        race_flush();
    }
}

void check_launch_begins(const Launch *launch) {
    race_launch();
    profile_launch_begins(launch);
    replay_begin();
}

void check_epoch(void) {
    race_launch();
}

bool check_launch_again(const Launch *launch) {
    profile_launch_ends();
    share_launch_ends(launch);
    return replay_again(launch);
}

void check_launch_ends(const Launch *launch) {
    replay_end(launch);
}

void check_opened(Allocation *allocation) {
    replay_opened(allocation);
}

bool check_mute(void) {
    return replay_astray();
}

void check_stop(void) {
    replay_stopped();
}
