#include <stdarg.h>
#include <stdlib.h>

#include "common/unset.h"
#include "device.h"
#include "quick.h"

/* Each load and store, as the compiler announces it, and what its own checks say. */

/* CUDA's own atomics announce the address. clang calls its hooks within them as well, which then
   say nothing new. */
static const volatile void *announced;

static inline bool in_kernel(void) {
    return sim_worker != NULL && sim_worker->in_kernel;
}

static inline void look_at(const void *p, size_t bytes, bool write, bool aligned, bool is_volatile,
                           Site site) {
    announced = NULL;
    if (!replay_runs()) {
        race_flush(!write);
    }
    check_access(p, bytes, write, aligned, is_volatile, site);
}

/* These stand apart, so that who may need them saves no registers: most reads need nothing more. */
#define APART static __attribute__((noinline)) void

APART look_at_shared(const void *p, size_t bytes, bool write, bool is_volatile, const void *pc) {
    if (sim_guards_unclosed) {
        sim_pending_unclosed(p, bytes, write, pc);
    }
    if (race_watches_host && is_volatile) {
        race_host_flag(p, !write, write);
    } else if (race_watches_host) {
        race_host(p, bytes, write, site_of_code(pc));
    }
}

static void report_variable(const char *where, bool write) {
    sim_report("host access to device memory", "host code %s a __device__ variable at %s",
               write ? "stores to" : "reads", where);
    sim_detail(write ? "kernels do not see it on a GPU: cudaMemcpyToSymbol() writes the variable"
                     : "on a GPU it does not see what kernels write: cudaMemcpyFromSymbol() reads "
                       "the variable");
}

/* The host has no such variable: on a GPU it uses another of that name, which no kernel knows. */
APART look_at_variable(const void *p, bool write, const void *pc) {
    if (variable_recorded(p) != NULL && (write || variable_writable(p)) && sim_enter_if_free()) {
        Site site = site_of_code(pc);
        if (first_report("host access to device memory", site, write)) {
            char where[600];
            describe_site(site, where, sizeof where);
            if (write || !variable_of_both(where)) {
                report_variable(where, write);
            }
        }
        sim_leave_fault();
    }
}

/* The host's own accesses matter where it shares memory with kernels, or with late copies. */
static inline void seen_by_host(const void *p, size_t bytes, bool write, bool is_volatile,
                                const void *pc) {
    if ((uintptr_t)p - variables_begin < variables_bytes) {
        look_at_variable(p, write, pc);
    }
    if (race_watches_host || sim_guards_unclosed) {
        look_at_shared(p, bytes, write, is_volatile, pc);
    }
}

static inline __attribute__((always_inline)) void
seen_as(const void *p, size_t bytes, bool write, bool aligned, bool is_volatile, const void *pc) {
    if (in_kernel()) {
        if (is_volatile && !write) {
            sim_idle();
        }
        look_at(p, bytes, write, aligned, is_volatile, site_of_code(pc));
    } else {
        seen_by_host(p, bytes, write, is_volatile, pc);
    }
}

APART look(const void *p, size_t bytes, bool write, bool aligned, const void *pc) {
    seen_as(p, bytes, write, aligned, false, pc);
}

/* An access of 1, 2, 4, 8 or 16 bytes by a kernel. */
static inline __attribute__((always_inline)) void
seen_in_first_run(const void *p, size_t bytes, bool write, bool aligned, const void *pc) {
    announced = NULL;
    if (!quick_look(p, bytes, write, pc)) {
        look(p, bytes, write, aligned, pc);
    }
}

static inline __attribute__((always_inline)) void
seen_in_second_run(const void *p, size_t bytes, bool write, bool aligned, const void *pc) {
    announced = NULL;
    if (!quick_show(p, bytes)) {
        look(p, bytes, write, aligned, pc);
    }
}

static inline __attribute__((always_inline)) void seen(const void *p, size_t bytes, bool write,
                                                       bool aligned, const void *pc) {
    if (!in_kernel()) {
        seen_by_host(p, bytes, write, false, pc);
    } else if (quick.disguised) {
        seen_in_second_run(p, bytes, write, aligned, pc);
    } else {
        seen_in_first_run(p, bytes, write, aligned, pc);
    }
}

static void seen_atomic_at(const volatile void *p, size_t bytes, Site site) {
    if (in_kernel() && (replay_runs() || p != announced)) {
        check_atomic((const void *)(uintptr_t)p, bytes, site);
    }
}

static void seen_atomic(const volatile void *p, size_t bytes, const void *pc) {
    if (!in_kernel() && race_watches_host) {
        race_host_flag((const void *)(uintptr_t)p, true, true);
    }
    seen_atomic_at(p, bytes, site_of_code(pc));
}

static inline bool runs_again(void) {
    return replay_runs();
}

void cudasim_before_access(const volatile void *p, size_t bytes, int write, const char *file,
                           int line) {
    if (in_kernel()) {
        look_at((const void *)(uintptr_t)p, bytes, write, false, false,
                site_of_place((Place){file, line}));
    }
}

void cudasim_before_load(const volatile void *p, size_t bytes, const char *file, int line) {
    if (in_kernel()) {
        look_at((const void *)(uintptr_t)p, bytes, false, true, false,
                site_of_place((Place){file, line}));
    }
}

void cudasim_before_atomic(const volatile void *p, size_t bytes, const char *file, int line) {
    announced = NULL;
    seen_atomic_at(p, bytes, site_of_place((Place){file, line}));
    announced = p;
    quick_forget();
}

static inline bool is_own(const void *p) {
    announced = NULL;
    return quick_own(sim_worker, p);
}

/* Most reads repeat one that has been seen, or are of threadIdx: they save no registers. */
#define READ(n)                                                                                    \
    APART read_in_first_run##n(const void *p, const void *pc) {                                    \
        seen_in_first_run(p, n, false, true, pc);                                                  \
    }                                                                                              \
    APART read_in_second_run##n(const void *p, const void *pc) {                                   \
        seen_in_second_run(p, n, false, true, pc);                                                 \
    }                                                                                              \
    void __tsan_read##n(void *p);                                                                  \
    void __tsan_read##n(void *p) {                                                                 \
        if (!in_kernel()) {                                                                        \
            seen_by_host(p, n, false, false, HERE);                                                \
        } else if (quick.disguised) {                                                              \
            read_in_second_run##n(p, HERE);                                                        \
        } else if (!quick_repeated(sim_worker, p, n) && !is_own(p)) {                              \
            read_in_first_run##n(p, HERE);                                                         \
        }                                                                                          \
    }
#include "hooks.inc"

/* ---- undefined behaviour --------------------------------------------------------------------- */

/* The compiler's own checks are on too: integer overflow, shifts, fixed arrays. Its library prints
   what it found, then calls here, where it counts like any other problem. */

void __ubsan_on_report(void);
void __ubsan_get_current_report_data(const char **kind, const char **message, const char **file,
                                     unsigned *line, unsigned *column, char **address);

/* In CUDA's terms, where there are some. */
static const char *class_of(const char *message) {
    return strstr(message, "misaligned") != NULL     ? "misaligned access"
           : strstr(message, "null pointer") != NULL ? "null pointer"
           : strstr(message, "out of bounds") != NULL ||
                   strstr(message, "insufficient space") != NULL
               ? "out-of-bounds access"
               : "undefined behaviour";
}

/* Of __ldg() and its kin the hook names the line that has called them. */
static bool is_hint(const char *message, const char *file) {
    return strstr(message, "misaligned") != NULL && strstr(file, "cudasim/include/") != NULL;
}

/* "... misaligned address 0xfefefefefefefefe for type ...": the fault to come says more. */
static bool is_unset(const char *message) {
    const char *address = strstr(message, "misaligned address ");
    return address != NULL && unset_address(strtoull(strchr(address, '0'), NULL, 16));
}

void __ubsan_on_report(void) {
    const char *kind, *message, *file;
    unsigned line, column;
    char *address;
    __ubsan_get_current_report_data(&kind, &message, &file, &line, &column, &address);
    if (is_hint(message, file) || is_unset(message)) {
        return;
    }
    check_compiler_says(class_of(message), (Place){file, (int)line});
    sim_report(class_of(message), "%s at %s:%u", message, sim_file((Place){file, (int)line}), line);
    if (strstr(message, "null pointer") != NULL) {
        sim_detail_error();
        sim_detail_heap();
    }
    sim_detail_thread();
}
