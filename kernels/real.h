/**
 * @file real.h
 * @brief What `Real` is in this compilation. Included by the sources of ops alone.
 * @ingroup kernels
 *
 * Each op is compiled three times, with REAL_F32, REAL_F16 or REAL_BF16 defined. Nothing of the op
 * changes but two conversions, so there is one text for three precisions:
 *
 *     out[i] = real(gelu(to_float(in[i])));
 */
#ifndef KERNELS_REAL_H
#define KERNELS_REAL_H

#include <limits.h>
#include <stdbool.h>

#include "kernels/base.h"
#include "kernels/half.h"

#if defined REAL_F16

struct Real {
    uint16_t bits; /**< fp16 */
};
enum { REAL_IS_FLOAT = 0 };
#define REAL_SUFFIX f16

static inline float to_float(Real x) {
    return half_to_float(x.bits);
}
static inline Real real(float x) {
    return (Real){half_from_float(x)};
}

#elif defined REAL_BF16

struct Real {
    uint16_t bits; /**< bf16 */
};
enum { REAL_IS_FLOAT = 0 };
#define REAL_SUFFIX bf16

static inline float to_float(Real x) {
    return bf16_to_float(x.bits);
}
static inline Real real(float x) {
    return (Real){bf16_from_float(x)};
}

#else

/** In f32 the number itself; in f16 and bf16 its 16 bits. */
struct Real {
    float value; /**< the number itself */
};
/** Whether stored numbers are floats, so that no conversion is needed. */
enum { REAL_IS_FLOAT = 1 };
/** @cond */
#define REAL_SUFFIX f32
/** @endcond */

/** The value of a stored number. */
static inline float to_float(Real x) {
    return x.value;
}
/** A float, rounded to the storage type. */
static inline Real real(float x) {
    return (Real){x};
}

#endif

/** The mask by which backward ops keep a gradient that is there already: all of it where they add
   to it, nothing where they work in place. A mask, not a condition,
   so that the loop is vectorised. */
static inline uint32_t keep_mask(bool in_place) {
    return in_place ? 0 : 0xffffffffu;
}
/** x under a keep_mask(). */
static inline float kept(float x, uint32_t mask) {
    return float_from_bits(float_bits(x) & mask);
}

/** A run of stored numbers as floats. */
static inline void to_floats(float *to, const Real *from, size_t n) {
#if defined REAL_F16
    half_run_to_float(to, &from->bits, n);
#else
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        to[i] = to_float(from[i]);
    }
#endif
}

/** Stored numbers that are read as floats at once: all, where they are floats. */
enum { FLOATS_RUN = REAL_IS_FLOAT ? INT_MAX : 256 };

/** Room for the copy of such a run: none is needed where numbers are floats. */
typedef float FloatsRun[REAL_IS_FLOAT ? 1 : FLOATS_RUN];

/** How many of a row's C numbers a run has that begins at `first`. */
static inline int floats_count(int C, int first) {
    return C - first < FLOATS_RUN ? C - first : FLOATS_RUN;
}

/** At most FLOATS_RUN stored numbers as floats: in f32 the tensor's own memory, elsewhere a copy in
    `run`, which is the caller's: what is stored to `from` later shows in f32 alone. */
static inline const float *floats(const Real *from, int n, FloatsRun run) {
#if defined REAL_F16 || defined REAL_BF16
    to_floats(run, from, (size_t)n);
    return run;
#else
    (void)n, (void)run;
    return &from->value;
#endif
}

/** Where a run of floats is computed that reals() will store at `to`: there, or in `run`. */
static inline float *floats_for(Real *to, FloatsRun run) {
#if defined REAL_F16 || defined REAL_BF16
    (void)to;
    return run;
#else
    (void)run;
    return &to->value;
#endif
}

/**
 * In a loop over rows, asks for the row that comes PREFETCH_ROWS later; it changes nothing but the
 * time. A processor fetches ahead by itself where a loop walks through memory, but not where it
 * skips to another row every few cache lines. Measured in docs/performance.md.
 *
 * @param x       (rows, stride), of which the loop reads or writes the first `cols` elements of
 *                each row
 * @param stride  elements from row to row
 * @param row     the row that the loop is at
 * @param rows    rows of the loop
 * @param cols    elements of a row
 * @param written whether the loop writes, so that no other core may keep the line
 */
static inline void prefetch_row(const Real *x, int stride, int row, int rows, int cols,
                                bool written) {
    enum { PREFETCH_ROWS = 8, LINE = 64 / sizeof *x };
    for (int c = 0; row + PREFETCH_ROWS < rows && c < cols; c += LINE) {
        const Real *line = x + (size_t)(row + PREFETCH_ROWS) * stride + c;
        if (written) {
            __builtin_prefetch(line, 1);
        } else {
            __builtin_prefetch(line, 0);
        }
    }
}

/** Rows of stored numbers as floats: to[row * to_ld + col] = from[row * from_ld + col]. */
static inline void rows_to_floats(float *to, int to_ld, const Real *from, int from_ld, int rows,
                                  int cols) {
    for (int row = 0; row < rows; row++) {
        prefetch_row(from, from_ld, row, rows, cols, false);
        to_floats(to + (size_t)row * to_ld, from + (size_t)row * from_ld, (size_t)cols);
    }
}

/** A run of floats, each rounded to the storage type; where floats are stored, they may lie there
    already. */
static inline void reals(Real *to, const float *from, size_t n) {
#if defined REAL_F16
    half_run_from_float(&to->bits, from, n);
#else
    if ((const void *)to == (const void *)from) {
        return;
    }
#pragma omp simd
    for (size_t i = 0; i < n; i++) {
        to[i] = real(from[i]);
    }
#endif
}

/** @cond */
#define REAL_JOIN(name, device, suffix) name##_##device##_##suffix
#define REAL_NAME(name, device, suffix) REAL_JOIN(name, device, suffix)
/** @endcond */

/**
 * The name of an op's CPU function in this precision: CPU(gelu_forward) is gelu_forward_cpu_f32.
 */
#define CPU(name) REAL_NAME(name, cpu, REAL_SUFFIX)
/** The name of an op's GPU function in this precision. */
#define GPU(name) REAL_NAME(name, gpu, REAL_SUFFIX)

#endif
