#include <stdarg.h>

#include "quick.h"

/* The functions that the compiler calls, under the names of ThreadSanitizer's and UBSan's. */

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
        race_flush();
    }
    check_access(p, bytes, write, aligned, is_volatile, site);
}

static inline __attribute__((always_inline)) void
seen_as(const void *p, size_t bytes, bool write, bool aligned, bool is_volatile, const void *pc) {
    if (in_kernel()) {
        if (is_volatile && !write) {
            sim_idle();
        }
        look_at(p, bytes, write, aligned, is_volatile, site_of_code(pc));
    }
}

static void look(const void *p, size_t bytes, bool write, bool aligned, const void *pc) {
    seen_as(p, bytes, write, aligned, false, pc);
}

/* An access of 1, 2, 4, 8 or 16 bytes. */
static inline __attribute__((always_inline)) void seen(const void *p, size_t bytes, bool write,
                                                       bool aligned, const void *pc) {
    if (in_kernel()) {
        announced = NULL;
        if (!quick_look(p, bytes, write, pc)) {
            look(p, bytes, write, aligned, pc);
        }
    }
}

static void seen_atomic(const volatile void *p, size_t bytes, Site site) {
    if (in_kernel() && (replay_runs() || p != announced)) {
        check_atomic((const void *)(uintptr_t)p, bytes, site);
    }
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
    seen_atomic(p, bytes, site_of_place((Place){file, line}));
    announced = p;
}

#define HERE __builtin_return_address(0)
#define HOOKS(n)                                                                                   \
    void __tsan_read##n(void *p);                                                                  \
    void __tsan_write##n(void *p);                                                                 \
    void __tsan_unaligned_read##n(void *p);                                                        \
    void __tsan_unaligned_write##n(void *p);                                                       \
    void __tsan_volatile_read##n(void *p);                                                         \
    void __tsan_volatile_write##n(void *p);                                                        \
    void __tsan_unaligned_volatile_read##n(void *p);                                               \
    void __tsan_unaligned_volatile_write##n(void *p);                                              \
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
        seen_as(p, n, false, true, true, HERE);                                                    \
    }                                                                                              \
    void __tsan_volatile_write##n(void *p) {                                                       \
        seen_as(p, n, true, true, true, HERE);                                                     \
    }                                                                                              \
    void __tsan_unaligned_volatile_read##n(void *p) {                                              \
        seen_as(p, n, false, false, true, HERE);                                                   \
    }                                                                                              \
    void __tsan_unaligned_volatile_write##n(void *p) {                                             \
        seen_as(p, n, true, false, true, HERE);                                                    \
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
    look(p, bytes, false, false, HERE);
}

void __tsan_write_range(void *p, size_t bytes) {
    look(p, bytes, true, false, HERE);
}

/* In pieces that are announced one after the other: the two may overlap. */
static void *copy_seen(void *to, const void *from, size_t bytes, const void *pc) {
    enum { PIECE = 4096 };
    char piece[PIECE];
    bool backwards = (const char *)to > (const char *)from;
    for (size_t done = 0; done < bytes;) {
        size_t n = bytes - done < PIECE ? bytes - done : PIECE;
        size_t at = backwards ? bytes - done - n : done;
        look((const char *)from + at, n, false, false, pc);
        memcpy(piece, (const char *)from + at, n);
        look((char *)to + at, n, true, false, pc);
        memcpy((char *)to + at, piece, n);
        done += n;
    }
    return to;
}

/* On the host the C library's. It is the last call, by an address that no compiler knows, so that
   none comes back here with the result: a crash is in the caller's line. */
static void *(*volatile host_copy)(void *to, const void *from, size_t bytes) = memmove;
static void *(*volatile host_set)(void *to, int value, size_t bytes) = memset;

void *__tsan_memcpy(void *to, const void *from, size_t bytes) {
    return in_kernel() ? copy_seen(to, from, bytes, HERE) : host_copy(to, from, bytes);
}

void *__tsan_memmove(void *to, const void *from, size_t bytes) {
    return in_kernel() ? copy_seen(to, from, bytes, HERE) : host_copy(to, from, bytes);
}

void *__tsan_memset(void *to, int value, size_t bytes) {
    look(to, bytes, true, false, HERE);
    return host_set(to, value, bytes);
}

/* A kernel prints in its first run only. */

int __tsan_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
int __tsan_puts(const char *line);
int __tsan_putchar(int c);

int __tsan_printf(const char *format, ...) {
    va_list values;
    va_start(values, format);
    int length = replay_runs() ? 0 : vprintf(format, values);
    va_end(values);
    return length;
}

int __tsan_puts(const char *line) {
    return replay_runs() ? 0 : puts(line);
}

int __tsan_putchar(int c) {
    return replay_runs() ? c : putchar(c);
}

/* C++'s own atomics, of which a program may have some;
   CUDA's come through cudasim_before_atomic. */
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
        seen_atomic(p, bits / 8, site_of_code(HERE));                                              \
        (void)order;                                                                               \
        return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                               \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile T *p, T value, int order) {                          \
        seen_atomic(p, bits / 8, site_of_code(HERE));                                              \
        (void)order;                                                                               \
        __atomic_store_n(p, value, __ATOMIC_SEQ_CST);                                              \
    }                                                                                              \
    T __tsan_atomic##bits##_exchange(volatile T *p, T value, int order) {                          \
        seen_atomic(p, bits / 8, site_of_code(HERE));                                              \
        (void)order;                                                                               \
        return __atomic_exchange_n(p, value, __ATOMIC_SEQ_CST);                                    \
    }                                                                                              \
    T __tsan_atomic##bits##_fetch_add(volatile T *p, T value, int order) {                         \
        seen_atomic(p, bits / 8, site_of_code(HERE));                                              \
        (void)order;                                                                               \
        return __atomic_fetch_add(p, value, __ATOMIC_SEQ_CST);                                     \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile T *p, T *old, T value, int order,   \
                                                      int failed) {                                \
        seen_atomic(p, bits / 8, site_of_code(HERE));                                              \
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

/* ---- undefined behaviour --------------------------------------------------------------------- */

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
    check_compiler_says(class_of(message), (Place){file, (int)line});
    sim_report(class_of(message), "%s at %s:%u", message, sim_file((Place){file, (int)line}), line);
    if (strstr(message, "null pointer") != NULL) {
        sim_detail_error();
    }
    sim_detail_thread();
}
