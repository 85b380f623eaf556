/**
 * @file 05_ops.h
 * @brief Lab 05 in the judge: calls of cast_from_float() and unscale() on the simulated GPU.
 * @ingroup grader
 */
#ifndef GRADER_JUDGES_05_OPS_H
#define GRADER_JUDGES_05_OPS_H

#include <math.h>
#include <string.h>

#include "grader/judges/profile.h"
#include "grader/probes/05_fp16.h"
#include "kernels/half.h"

enum { MOST_CASES = 40, OP_SECONDS = 20 };

/* All calls of a check. */
typedef struct Ops05 {
    Check *check;
    OpCase c[MOST_CASES];
    const float *in[MOST_CASES];
    int count;
    bool cast;
    bool again; /* in another order of threads; in the first it was right */
} Ops05;

static inline void add_op(Ops05 *ops, const float *in, OpCase c) {
    char name[WIRE_NAME];
    int i = ops->count++;
    CHECK(i < MOST_CASES, "more than %d calls", MOST_CASES);
    ops->c[i] = c;
    ops->in[i] = in;
    check_give(ops->check, op_name(name, "in", i), WIRE_F32, in, (size_t)c.n);
    check_want(ops->check, op_name(name, ops->cast ? "bits" : "out", i),
               ops->cast ? WIRE_U64 : WIRE_F32, (size_t)c.n);
}

static inline void ops_planned(Ops05 *ops) {
    Check *check = ops->check;
    check_memory(check, 0);
    check_give(check, "cases", WIRE_BYTES, ops->c, (size_t)ops->count * sizeof *ops->c);
    want_profile(check);
    if (!ops->cast) {
        check_want(check, "found_inf", WIRE_F32, (size_t)ops->count);
    }
}

/* Runs all calls. What the simulator has reported is a mistake by itself. */
static inline bool ops_run(const Ops05 *ops) {
    return check_run(ops->check, ops->cast ? "cast" : "unscale", OP_SECONDS) &&
           expect_clean(ops->check);
}

static inline uint16_t truncated_bits(float x, Precision precision) {
    uint32_t toward_zero = precision == BF16 ? 0xffff0000u : 0xffffe000u;
    float cut = float_from_bits(float_bits(x) & toward_zero);
    return precision == BF16 ? bf16_from_float(cut) : half_from_float(cut);
}

static inline uint64_t right_bits(float x, Precision precision) {
    return precision == F32   ? float_bits(x)
           : precision == F16 ? half_from_float(x)
                              : bf16_from_float(x);
}

static inline bool nan_bits(uint64_t bits, Precision precision) {
    uint64_t infinity = precision == F16 ? 0x7c00 : precision == BF16 ? 0x7f80 : 0x7f800000;
    uint64_t sign = precision == F32 ? 0x80000000 : 0x8000;
    return (bits & ~sign) > infinity;
}

static inline void judge_cast(const Ops05 *ops) {
    char name[WIRE_NAME];
    for (int i = 0; i < ops->count; i++) {
        Precision precision = (Precision)ops->c[i].precision;
        const uint64_t *bits = check_got(ops->check, op_name(name, "bits", i), WIRE_U64);
        for (int j = 0; j < ops->c[i].n; j++) {
            float x = ops->in[i][j];
            uint64_t want = right_bits(x, precision);
            if (bits[j] == want || (isnan(x) && nan_bits(bits[j], precision))) {
                continue;
            }
            bool cut = precision != F32 && bits[j] == truncated_bits(x, precision);
            check_fail(ops->check,
                       "%g in %s, element %d of %d, has the bits %#llx, should have %#llx%s",
                       (double)x, precision_name(precision), j, ops->c[i].n,
                       (unsigned long long)bits[j], (unsigned long long)want,
                       cut ? "; likely: it was cut off, not rounded: real() rounds to the nearest"
                       : j >= ops->c[i].n / 4 * 4
                           ? "; likely: the last n % 4 elements, which no group of four has"
                           : "");
            return;
        }
    }
    check_good(ops->check);
}

/* For so many bytes written, no more than so many are read. */
static inline void judge_traffic(const Ops05 *ops, double read, double written) {
    double sectors[2];
    if (expect_neighbours(ops->check, sectors) &&
        !(sectors[0] / sectors[1] <= MOST_SECTORS * read / written)) {
        check_fail(ops->check,
                   "for each sector written, %.2f are read, where %.2f would do: one pass over "
                   "memory",
                   sectors[0] / sectors[1], read / written);
    }
}

/* Says what is wrong with element j of a call. */
static inline void wrong_element(const Ops05 *ops, int i, int j, float got) {
    const OpCase *c = &ops->c[i];
    float x = ops->in[i][j];
    const char *likely = got == x ? "; likely: this element was not multiplied: the tail?"
                         : got == x * c->inv_scale * c->inv_scale
                             ? "; likely: it was multiplied twice"
                             : "";
    check_fail(ops->check, "element %d of %d: %g * %g gave %g%s", j, c->n, (double)x,
               (double)c->inv_scale, (double)got, likely);
}

/* Says what is wrong with what a call has found. */
static inline void wrong_found(const Ops05 *ops, int i, float bad, float got) {
    const OpCase *c = &ops->c[i];
    const char *held = isnan(bad) ? " with a NaN" : bad != 0 ? " with an inf" : " that are finite";
    const char *why = ops->again ? "right in another order, but threads, warps and blocks come in "
                                   "any: is there a barrier between clearing a flag and setting it?"
                      : bad == 0 && c->found_inf == 0 ? "all of them were finite"
                      : got > 1
                          ? "it is 1, however many blocks have found something: store, and do "
                            "not add"
                      : c->found_inf == 1 ? "it is set to 1, and never back to 0"
                      : isnan(bad)        ? "isinf() is false for NaN: isfinite() looks for both"
                                          : "every element must be looked at, as it comes";
    check_fail(ops->check, "found_inf was %g before %d elements%s, and is %g afterwards: %s",
               (double)c->found_inf, c->n, held, (double)got, why);
}

static inline bool same_float(float a, float b) {
    return isnan(a) ? isnan(b) : float_bits(a) == float_bits(b);
}

/* in * inv_scale, and found_inf, of each call. */
static inline void judge_unscale(const Ops05 *ops) {
    char name[WIRE_NAME];
    const float *found = check_got(ops->check, "found_inf", WIRE_F32);
    for (int i = 0; i < ops->count; i++) {
        const float *out = check_got(ops->check, op_name(name, "out", i), WIRE_F32);
        float bad = 0;
        for (int j = 0; j < ops->c[i].n; j++) {
            bad = isfinite(ops->in[i][j]) ? bad : ops->in[i][j];
            if (!same_float(ops->in[i][j] * ops->c[i].inv_scale, out[j])) {
                wrong_element(ops, i, j, out[j]);
                return;
            }
        }
        if (found[i] != (bad != 0 ? 1 : ops->c[i].found_inf)) {
            wrong_found(ops, i, bad, found[i]);
            return;
        }
    }
    check_good(ops->check);
}

#endif
