#include "grader/labs/05_fp16/ops.h"

#include <math.h>
#include <string.h>

void ops_add(OpCalls *ops, const float *in, OpCase c) {
    char name[WIRE_NAME];
    int i = ops->count++;
    CHECK(i < MOST_CASES, "more than %d calls", MOST_CASES);
    ops->c[i] = c;
    ops->in[i] = in;
    check_give(ops->check, op_name(name, "in", i), WIRE_F32, in, (size_t)c.n);
    check_want(ops->check, op_name(name, ops->cast ? "bits" : "out", i),
               ops->cast ? WIRE_U64 : WIRE_F32, (size_t)c.n);
}

void ops_planned(OpCalls *ops) {
    Check *check = ops->check;
    check_memory(check, 0);
    check_give(check, "cases", WIRE_BYTES, ops->c, (size_t)ops->count * sizeof *ops->c);
    profile_want(check);
    if (!ops->cast) {
        check_want(check, "found_inf", WIRE_F32, (size_t)ops->count);
    }
}

/* Whether the launches are kernels. */
static bool ops_judge_shared(const OpCalls *ops, ProfileShares shares) {
    double bytes = 0;
    for (int i = 0; i < ops->count; i++) {
        double element = ops->cast ? precision_bytes((Precision)ops->c[i].precision) : 4;
        bytes += (4 + element) * ops->c[i].n;
    }
    return profile_expect_shared(ops->check, bytes, shares);
}

static uint16_t bits_truncated(float x, Precision precision) {
    uint32_t toward_zero = precision == BF16 ? 0xffff0000u : 0xffffe000u;
    float cut = float_from_bits(float_bits(x) & toward_zero);
    return precision == BF16 ? bf16_from_float(cut) : half_from_float(cut);
}

static uint64_t bits_right(float x, Precision precision) {
    return precision == F32   ? float_bits(x)
           : precision == F16 ? half_from_float(x)
                              : bf16_from_float(x);
}

static bool bits_are_nan(uint64_t bits, Precision precision) {
    uint64_t infinity = precision == F16 ? 0x7c00 : precision == BF16 ? 0x7f80 : 0x7f800000;
    uint64_t sign = precision == F32 ? 0x80000000 : 0x8000;
    return (bits & ~sign) > infinity;
}

static bool bits_same(uint64_t bits, uint64_t want, float x, Precision precision) {
    return bits == want || (isnan(x) && bits_are_nan(bits, precision));
}

/* Whether element j of call i is as a mistake would have it. */
typedef bool CastMistake(const OpCalls *ops, int i, int j, uint64_t bits);

static bool cast_right(const OpCalls *ops, int i, int j, uint64_t bits) {
    float x = ops->in[i][j];
    Precision precision = (Precision)ops->c[i].precision;
    return bits_same(bits, bits_right(x, precision), x, precision);
}
static bool cast_cut_off(const OpCalls *ops, int i, int j, uint64_t bits) {
    float x = ops->in[i][j];
    Precision precision = (Precision)ops->c[i].precision;
    return precision == F32 ? cast_right(ops, i, j, bits)
                            : bits_same(bits, bits_truncated(x, precision), x, precision);
}
static bool cast_other_half(const OpCalls *ops, int i, int j, uint64_t bits) {
    float x = ops->in[i][j];
    Precision precision = (Precision)ops->c[i].precision;
    Precision other = precision == F16 ? BF16 : precision == BF16 ? F16 : F32;
    return bits_same(bits, bits_right(x, other), x, other);
}
static bool cast_saturated(const OpCalls *ops, int i, int j, uint64_t bits) {
    float x = ops->in[i][j];
    bool beyond = ops->c[i].precision == F16 && !isnan(x) && fabsf(x) > 65504;
    return beyond ? bits == (x > 0 ? 0x7bffu : 0xfbffu) : cast_right(ops, i, j, bits);
}
static bool cast_without_tail(const OpCalls *ops, int i, int j, uint64_t bits) {
    return j >= ops->c[i].n / 4 * 4 ? !cast_right(ops, i, j, bits) : cast_right(ops, i, j, bits);
}

static const struct {
    const char *sentence;
    CastMistake *fits;
} cast_mistakes[] = {
    {"numbers are cut off, not rounded: real() rounds to the nearest", cast_cut_off},
    {"f16 and bf16 are swapped: real() knows which one it is compiled for", cast_other_half},
    {"what is too large for f16 becomes inf, not the largest number", cast_saturated},
    {"the last n % 4 elements, which no group of four has, are left out", cast_without_tail},
};

/* One mistake over all elements of all calls. */
static bool cast_explained(const OpCalls *ops, CastMistake *fits) {
    char name[WIRE_NAME];
    for (int i = 0; i < ops->count; i++) {
        const uint64_t *bits = check_got(ops->check, op_name(name, "bits", i), WIRE_U64);
        for (int j = 0; j < ops->c[i].n; j++) {
            if (!fits(ops, i, j, bits[j])) {
                return false;
            }
        }
    }
    return true;
}

/* Shows the first element that is wrong. @return whether there is none */
static bool cast_compared(const OpCalls *ops) {
    char name[WIRE_NAME];
    for (int i = 0; i < ops->count; i++) {
        Precision precision = (Precision)ops->c[i].precision;
        const uint64_t *bits = check_got(ops->check, op_name(name, "bits", i), WIRE_U64);
        for (int j = 0; j < ops->c[i].n; j++) {
            if (!cast_right(ops, i, j, bits[j])) {
                float x = ops->in[i][j];
                return check_compared(ops->check, false,
                                      "%g in %s, element %d of %d, has the bits %#llx, should have "
                                      "%#llx",
                                      (double)x, precision_name(precision), j, ops->c[i].n,
                                      (unsigned long long)bits[j],
                                      (unsigned long long)bits_right(x, precision));
            }
        }
    }
    return check_compared(ops->check, true, "right");
}

void ops_judge_cast(const OpCalls *ops) {
    if (cast_compared(ops)) {
        ops_judge_shared(ops, profile_any_kernel);
        return;
    }
    for (size_t k = 0; k < sizeof cast_mistakes / sizeof *cast_mistakes; k++) {
        check_suspect(ops->check, cast_mistakes[k].sentence,
                      cast_explained(ops, cast_mistakes[k].fits));
    }
}

/* Elements that nobody has written are a report of the simulator as well: what they are comes
   first. */
bool ops_run(const OpCalls *ops) {
    if (!check_run(ops->check, ops->cast ? "ops/cast" : "ops/unscale", OP_SECONDS)) {
        return false;
    }
    if (ops->cast && !cast_explained(ops, cast_right) && cast_explained(ops, cast_without_tail)) {
        ops_judge_cast(ops);
    }
    return profile_expect_clean(ops->check);
}

void ops_judge_traffic(const OpCalls *ops, double read, double written) {
    double sectors[2];
    if (ops_judge_shared(ops, profile_good_kernel) &&
        profile_expect_neighbours(ops->check, sectors) &&
        !(sectors[0] / sectors[1] <= PROFILE_MOST_SECTORS * read / written)) {
        check_fail(ops->check,
                   "for each sector written, %.2f are read, where %.2f would do: one pass over "
                   "memory",
                   sectors[0] / sectors[1], read / written);
    }
}

/* Says what is wrong with element j of a call. */
static void ops_wrong_element(const OpCalls *ops, int i, int j, float got) {
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
static void ops_wrong_found(const OpCalls *ops, int i, float bad, float got) {
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

static bool float_same(float a, float b) {
    return isnan(a) ? isnan(b) : float_bits(a) == float_bits(b);
}

void ops_judge_unscale(const OpCalls *ops) {
    char name[WIRE_NAME];
    const float *found = check_got(ops->check, "found_inf", WIRE_F32);
    for (int i = 0; i < ops->count; i++) {
        const float *out = check_got(ops->check, op_name(name, "out", i), WIRE_F32);
        float bad = 0;
        for (int j = 0; j < ops->c[i].n; j++) {
            bad = isfinite(ops->in[i][j]) ? bad : ops->in[i][j];
            if (!float_same(ops->in[i][j] * ops->c[i].inv_scale, out[j])) {
                ops_wrong_element(ops, i, j, out[j]);
                return;
            }
        }
        if (found[i] != (bad != 0 ? 1 : ops->c[i].found_inf)) {
            ops_wrong_found(ops, i, bad, found[i]);
            return;
        }
    }
    check_good(ops->check);
    ops_judge_shared(ops, profile_any_kernel);
}
