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
        sim_describe_code(image_base() + site, text, size);
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
        sim_detail("address is %p, in no memory of the device but perhaps a __device__ variable",
                   p);
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

static void check_access(const void *address, size_t bytes, bool write, bool aligned, Site site) {
    Worker *worker = sim_worker;
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
        report("misaligned access", &access, ", whose address is no multiple of that,");
    }
    if (sim_on_device(p)) {
        if (device_bounds(&access)) {
            check_written(&access);
            race_access(&access);
            profile_access(&access);
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
    } else if ((uintptr_t)p >= PAGE && sim_allocation(p) == NULL) {
        if (report("host memory in a kernel", &access, "")) {
            sim_detail("a kernel can only use memory from cudaMalloc: copy the data there first");
        }
    }
}

void cudasim_before_atomic(const volatile void *address, size_t bytes, const char *file, int line) {
    Worker *worker = sim_worker;
    const char *p = (const char *)address;
    if (worker == NULL || !worker->in_kernel) {
        return;
    }
    race_flush();
    bool shared = p >= worker->shared && p < worker->dynamic_end;
    Access access = {p, bytes, true, true, shared, site_of_place((Place){file, line})};
    if (sim_on_device(p) ? device_bounds(&access) : shared && shared_bounds(worker, &access)) {
        check_written(&access);
        race_access(&access);
    } else if (shared) {
        report("out-of-bounds access", &access, " of shared memory");
    } else if (in_image(p)) {
        race_access(&access);
    }
}

/* ---- what sim.h asks for --------------------------------------------------------------------- */

void check_fresh(const void *p, size_t bytes) {
    shadow_mark(p, bytes, false);
    if (sim_on_device(p)) {
        race_forget(p, bytes);
    }
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
}

void check_copied(void *to, const void *from, size_t bytes) {
    shadow_copy(to, from, bytes);
}

void check_pause(void) {
    race_flush();
}

void check_launch(const Launch *launch, bool begins) {
    if (begins) {
        race_launch();
    }
    profile_launch(launch, begins);
}

/* ---- what the compiler calls ------------------------------------------------------------------
 */

static inline void seen(const void *p, size_t bytes, bool write, bool aligned, const void *pc) {
    if (sim_worker != NULL && sim_worker->in_kernel) {
        race_flush();
        check_access(p, bytes, write, aligned, site_of_code(pc));
    }
}

#define HERE __builtin_return_address(0)
#define HOOKS(n)                                                                                   \
    void __tsan_read##n(void *p);                                                                  \
    void __tsan_write##n(void *p);                                                                 \
    void __tsan_unaligned_read##n(void *p);                                                        \
    void __tsan_unaligned_write##n(void *p);                                                       \
    void __tsan_volatile_read##n(void *p);                                                         \
    void __tsan_volatile_write##n(void *p);                                                        \
    void __tsan_read_write##n(void *p);                                                            \
    void __tsan_unaligned_read_write##n(void *p);                                                  \
    void __tsan_read##n(void *p) {                                                                 \
        seen(p, n, false, true, HERE);                                                             \
    }                                                                                              \
    void __tsan_write##n(void *p) {                                                                \
        seen(p, n, true, true, HERE);                                                              \
    }                                                                                              \
    void __tsan_unaligned_read##n(void *p) {                                                       \
        seen(p, n, false, false, HERE);                                                            \
    }                                                                                              \
    void __tsan_unaligned_write##n(void *p) {                                                      \
        seen(p, n, true, false, HERE);                                                             \
    }                                                                                              \
    void __tsan_volatile_read##n(void *p) {                                                        \
        seen(p, n, false, true, HERE);                                                             \
    }                                                                                              \
    void __tsan_volatile_write##n(void *p) {                                                       \
        seen(p, n, true, true, HERE);                                                              \
    }                                                                                              \
    void __tsan_read_write##n(void *p) {                                                           \
        seen(p, n, false, true, HERE);                                                             \
        seen(p, n, true, true, HERE);                                                              \
    }                                                                                              \
    void __tsan_unaligned_read_write##n(void *p) {                                                 \
        seen(p, n, false, false, HERE);                                                            \
        seen(p, n, true, false, HERE);                                                             \
    }
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

void __tsan_init(void);
void __tsan_func_entry(void *pc);
void __tsan_func_exit(void);
void __tsan_read_range(void *p, size_t bytes);
void __tsan_write_range(void *p, size_t bytes);
void __tsan_vptr_update(void **p, void *value);
void __tsan_vptr_read(void **p);
void *__tsan_memcpy(void *to, const void *from, size_t bytes);
void *__tsan_memmove(void *to, const void *from, size_t bytes);
void *__tsan_memset(void *to, int value, size_t bytes);

void __tsan_init(void) {
}

void __tsan_func_entry(void *pc) {
    (void)pc;
}

void __tsan_func_exit(void) {
}

void __tsan_vptr_update(void **p, void *value) {
    (void)p, (void)value;
}

void __tsan_vptr_read(void **p) {
    (void)p;
}

void __tsan_read_range(void *p, size_t bytes) {
    seen(p, bytes, false, false, HERE);
}

void __tsan_write_range(void *p, size_t bytes) {
    seen(p, bytes, true, false, HERE);
}

void *__tsan_memcpy(void *to, const void *from, size_t bytes) {
    seen(from, bytes, false, false, HERE);
    seen(to, bytes, true, false, HERE);
    return memcpy(to, from, bytes);
}

void *__tsan_memmove(void *to, const void *from, size_t bytes) {
    seen(from, bytes, false, false, HERE);
    seen(to, bytes, true, false, HERE);
    return memmove(to, from, bytes);
}

void *__tsan_memset(void *to, int value, size_t bytes) {
    seen(to, bytes, true, false, HERE);
    return memset(to, value, bytes);
}

/* C++'s own atomics, of which a program may have some; CUDA's come through cudasim_before_atomic.
 */
#define ATOMICS(bits, T)                                                                           \
    T __tsan_atomic##bits##_load(const volatile T *p, int order);                                  \
    void __tsan_atomic##bits##_store(volatile T *p, T value, int order);                           \
    T __tsan_atomic##bits##_exchange(volatile T *p, T value, int order);                           \
    T __tsan_atomic##bits##_fetch_add(volatile T *p, T value, int order);                          \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile T *p, T *old, T value, int order,   \
                                                      int failed);                                 \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile T *p, T *old, T value, int order,     \
                                                    int failed);                                   \
    T __tsan_atomic##bits##_compare_exchange_val(volatile T *p, T old, T value, int order,         \
                                                 int failed);                                      \
    T __tsan_atomic##bits##_load(const volatile T *p, int order) {                                 \
        (void)order;                                                                               \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                               \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile T *p, T value, int order) {                          \
        (void)order;                                                                               \
        __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                              \
    }                                                                                              \
    T __tsan_atomic##bits##_exchange(volatile T *p, T value, int order) {                          \
        (void)order;                                                                               \
        return __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST);                                    \
    }                                                                                              \
    T __tsan_atomic##bits##_fetch_add(volatile T *p, T value, int order) {                         \
        (void)order;                                                                               \
        return __atomic_fetch_add(p, value, __ATOMIC_SEQ_CST);                                     \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile T *p, T *old, T value, int order,   \
                                                      int failed) {                                \
        (void)order, (void)failed;                                                                 \
        return __atomic_compare_exchange_n(p, old, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);  \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile T *p, T *old, T value, int order,     \
                                                    int failed) {                                  \
        return __tsan_atomic##bits##_compare_exchange_strong(p, old, value, order, failed);        \
    }                                                                                              \
    T __tsan_atomic##bits##_compare_exchange_val(volatile T *p, T old, T value, int order,         \
                                                 int failed) {                                     \
        __tsan_atomic##bits##_compare_exchange_strong(p, &old, value, order, failed);              \
        return old;                                                                                \
    }
ATOMICS(8, unsigned char)
ATOMICS(16, unsigned short)
ATOMICS(32, unsigned)
ATOMICS(64, unsigned long long)

void __tsan_atomic_thread_fence(int order);
void __tsan_atomic_thread_fence(int order) {
    (void)order;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* ---- undefined behaviour -----------------------------------------------------------------------
 */

/* The compiler's own checks are on too: integer overflow, shifts, fixed arrays. Its library prints
   what it found, then calls here, where it counts like any other problem. */

void __ubsan_on_report(void);
void __ubsan_get_current_report_data(const char **kind, const char **message, const char **file,
                                     unsigned *line, unsigned *column, char **address);

/* In CUDA's terms, where there are some. */
static const char *class_of(const char *message) {
    return strstr(message, "misaligned") != NULL      ? "misaligned access"
           : strstr(message, "null pointer") != NULL  ? "null pointer"
           : strstr(message, "out of bounds") != NULL ? "out-of-bounds access"
                                                      : "undefined behaviour";
}

void __ubsan_on_report(void) {
    const char *kind, *message, *file;
    unsigned line, column;
    char *address;
    __ubsan_get_current_report_data(&kind, &message, &file, &line, &column, &address);
    sim_report(class_of(message), "%s at %s:%u", message, sim_file((Place){file, (int)line}), line);
    sim_detail_thread();
}
