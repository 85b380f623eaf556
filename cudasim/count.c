#include <stdarg.h>

#include "allocation.h"
#include "block.h"

/* Builds with TRAFFIC=1: loads and stores are counted, and nothing else is done with them. Blocks
   run one after the other there, so that counting needs no turn. */

static inline bool in_kernel(void) {
    return sim_worker != NULL && sim_worker->in_kernel;
}

static inline void count(const void *p, size_t bytes, bool write) {
    if (in_kernel() && sim_on_device(p)) {
        traffic_access(p, bytes, write);
    }
}

static inline void seen(const void *p, size_t bytes, bool write, bool aligned, const void *pc) {
    (void)aligned, (void)pc;
    count(p, bytes, write);
}

/* A loop that waits for memory to change must let others change it. */
static inline void seen_as(const void *p, size_t bytes, bool write, bool aligned, bool is_volatile,
                           const void *pc) {
    if (in_kernel() && is_volatile && !write) {
        sim_idle();
    }
    seen(p, bytes, write, aligned, pc);
}

static inline void look(const void *p, size_t bytes, bool write, bool aligned, const void *pc) {
    seen(p, bytes, write, aligned, pc);
}

static inline void seen_atomic(const volatile void *p, size_t bytes, const void *pc) {
    (void)pc;
    count((const void *)(uintptr_t)p, bytes, false);
    count((const void *)(uintptr_t)p, bytes, true);
}

static inline bool runs_again(void) {
    return false;
}

void cudasim_before_access(const volatile void *p, size_t bytes, int write, const char *file,
                           int line) {
    (void)file, (void)line;
    count((const void *)(uintptr_t)p, bytes, write);
}

void cudasim_before_load(const volatile void *p, size_t bytes, const char *file, int line) {
    (void)file, (void)line;
    count((const void *)(uintptr_t)p, bytes, false);
}

void cudasim_before_atomic(const volatile void *p, size_t bytes, const char *file, int line) {
    (void)file, (void)line;
    seen_atomic(p, bytes, NULL);
}

#define READ(n)                                                                                    \
    void __tsan_read##n(void *p);                                                                  \
    void __tsan_read##n(void *p) {                                                                 \
        count(p, n, false);                                                                        \
    }
#include "hooks.inc"
