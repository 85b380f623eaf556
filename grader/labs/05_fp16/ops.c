#include "grader/labs/05_fp16/ops.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
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
static bool cast_bf16_as_f16(const OpCalls *ops, int i, int j, uint64_t bits) {
    bool other = ops->c[i].precision == BF16;
    return other ? cast_other_half(ops, i, j, bits) : cast_right(ops, i, j, bits);
}
static bool cast_f16_as_bf16(const OpCalls *ops, int i, int j, uint64_t bits) {
    bool other = ops->c[i].precision == F16;
    return other ? cast_other_half(ops, i, j, bits) : cast_right(ops, i, j, bits);
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
    {"these are the bits of f16, in bf16 too: real() knows which one it is compiled for",
     cast_bf16_as_f16},
    {"these are the bits of bf16, in f16 too: real() knows which one it is compiled for",
     cast_f16_as_bf16},
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

/* The number of an element from which on nothing is right, in whichever call, while all before it
   is; 0 if there is no such number. */
static int cast_end(const OpCalls *ops) {
    char name[WIRE_NAME];
    int first_wrong = INT_MAX, last_right = -1;
    for (int i = 0; i < ops->count; i++) {
        const uint64_t *bits = check_got(ops->check, op_name(name, "bits", i), WIRE_U64);
        for (int j = 0; j < ops->c[i].n; j++) {
            bool right = cast_right(ops, i, j, bits[j]);
            first_wrong = !right && j < first_wrong ? j : first_wrong;
            last_right = right && j > last_right ? j : last_right;
        }
    }
    return last_right >= 0 && first_wrong == last_right + 1 ? first_wrong : 0;
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
    char ends[100];
    snprintf(ends, sizeof ends,
             "nothing is written from element %d on: larger tensors need more blocks",
             cast_end(ops));
    check_suspect(ops->check, ends, cast_end(ops) > 0);
}

/* Of all that the probe fetches: elements, and what unscale() has found. */
static size_t ops_fetched(const OpCalls *ops) {
    size_t bytes = 0;
    for (int i = 0; i < ops->count; i++) {
        size_t n = (size_t)ops->c[i].n;
        bytes += ops->cast ? n * precision_bytes((Precision)ops->c[i].precision)
                           : (n + 1) * sizeof(float);
    }
    return bytes;
}

/* Elements that nobody has written are a report of the simulator as well: what they are comes
   first. */
bool ops_run(const OpCalls *ops) {
    if (!check_run(ops->check, ops->cast ? "ops/cast" : "ops/unscale", OP_SECONDS) ||
        !profile_expect_no_fetch(ops->check, ops_fetched(ops))) {
        return false;
    }
    if (ops->cast && !cast_explained(ops, cast_right) &&
        (cast_explained(ops, cast_without_tail) || cast_end(ops) > 0)) {
        ops_judge_cast(ops);
    }
    return profile_expect_clean(ops->check);
}

void ops_judge_traffic(const OpCalls *ops, double read, double written) {
    double sectors[2];
    if (ops_judge_shared(ops, profile_good_kernel) &&
        profile_expect_neighbours(ops->check, sectors) &&
        !(sectors[0] <= PROFILE_MOST_SECTORS * read / written * sectors[1])) {
        check_fail(ops->check,
                   "where %.0f sectors are written, %.0f are read, and %.0f would do: one pass "
                   "over memory",
                   sectors[1], sectors[0], read / written * sectors[1]);
    }
}

static bool float_same(float a, float b) {
    return isnan(a) ? isnan(b) : float_bits(a) == float_bits(b);
}

/* ---- unscale: the elements ------------------------------------------------------------------- */

/* Element j of call i as a mistake leaves it. */
typedef float UnscaleMistake(const OpCalls *ops, int i, int j);

static float unscale_right(const OpCalls *ops, int i, int j) {
    return ops->in[i][j] * ops->c[i].inv_scale;
}
static float unscale_twice(const OpCalls *ops, int i, int j) {
    return ops->in[i][j] * (ops->c[i].inv_scale * ops->c[i].inv_scale);
}
static float unscale_never(const OpCalls *ops, int i, int j) {
    return ops->in[i][j];
}
static float unscale_divided(const OpCalls *ops, int i, int j) {
    return ops->in[i][j] / ops->c[i].inv_scale;
}
static float unscale_without_tail(const OpCalls *ops, int i, int j) {
    return j >= ops->c[i].n / 4 * 4 ? ops->in[i][j] : unscale_right(ops, i, j);
}

static const struct {
    const char *sentence;
    UnscaleMistake *value;
} unscale_mistakes[] = {
    {"every element is multiplied by inv_scale twice", unscale_twice},
    {"no element is multiplied by inv_scale", unscale_never},
    {"every element is divided by inv_scale: it is 1 / scale, so multiply", unscale_divided},
    {"the last n % 4 elements are not multiplied: the tail?", unscale_without_tail},
};

/* An element of a call. */
typedef struct OpElement {
    int i, j;
} OpElement;

/* The first that is not as that; i is `count` if there is none. */
static OpElement unscale_differs(const OpCalls *ops, UnscaleMistake *value) {
    char name[WIRE_NAME];
    for (int i = 0; i < ops->count; i++) {
        const float *out = check_got(ops->check, op_name(name, "out", i), WIRE_F32);
        for (int j = 0; j < ops->c[i].n; j++) {
            if (!float_same(value(ops, i, j), out[j])) {
                return (OpElement){i, j};
            }
        }
    }
    return (OpElement){ops->count, 0};
}

static void unscale_tell(const OpCalls *ops, OpElement at) {
    char name[WIRE_NAME];
    const OpCase *c = &ops->c[at.i];
    const float *out = check_got(ops->check, op_name(name, "out", at.i), WIRE_F32);
    check_compared(ops->check, false, "element %d of %d: %g * %g gave %g", at.j, c->n,
                   (double)ops->in[at.i][at.j], (double)c->inv_scale, (double)out[at.j]);
}

static bool unscale_expect_elements(const OpCalls *ops) {
    OpElement wrong = unscale_differs(ops, unscale_right);
    bool right = wrong.i == ops->count;
    if (right) {
        check_compared(ops->check, true, "right");
    } else {
        unscale_tell(ops, wrong);
    }
    for (size_t k = 0; k < sizeof unscale_mistakes / sizeof *unscale_mistakes; k++) {
        check_suspect(ops->check, unscale_mistakes[k].sentence,
                      unscale_differs(ops, unscale_mistakes[k].value).i == ops->count);
    }
    return right;
}

/* ---- unscale: inf and NaN -------------------------------------------------------------------- */

/* Whether a mistake finds something in element j of n. */
typedef bool FindMistake(const float *in, int n, int j);

static bool find_right(const float *in, int n, int j) {
    (void)n;
    return !isfinite(in[j]);
}
static bool find_inf(const float *in, int n, int j) {
    (void)n;
    return isinf(in[j]);
}
static bool find_nan(const float *in, int n, int j) {
    (void)n;
    return isnan(in[j]);
}
static bool find_first_of_four(const float *in, int n, int j) {
    (void)n;
    return j % 4 == 0 && !isfinite(in[j]);
}
static bool find_last_of_four(const float *in, int n, int j) {
    (void)n;
    return j % 4 == 3 && !isfinite(in[j]);
}
static bool find_square(const float *in, int n, int j) {
    (void)n;
    return !isfinite(in[j] * in[j]);
}
static bool find_beyond_half(const float *in, int n, int j) {
    (void)n;
    return !(fabsf(in[j]) <= 65504);
}
static bool find_sum_of_four(const float *in, int n, int j) {
    float sum = 0;
    for (int i = j / 4 * 4; i < n && i <= j; i++) {
        sum += in[i];
    }
    return (j % 4 == 3 || j == n - 1) && !isfinite(sum);
}
static bool find_always(const float *in, int n, int j) {
    (void)in, (void)n, (void)j;
    return true;
}
static bool find_never(const float *in, int n, int j) {
    (void)in, (void)n, (void)j;
    return false;
}

static const struct {
    const char *sentence;
    FindMistake *finds;
    bool clears; /* a 1 that stood there is lost */
} found_mistakes[] = {
    {"isinf() is false for NaN: isfinite() looks for both", find_inf, false},
    {"isnan() is false for inf: isfinite() looks for both", find_nan, false},
    {"only the first of each four elements is looked at", find_first_of_four, false},
    {"of each four elements only the last one counts: what is found once stays found",
     find_last_of_four, false},
    {"squares are looked at: that of a large number is inf, the number is not", find_square, false},
    {"what a half cannot hold is taken for inf: gradients are float, so is what they may be",
     find_beyond_half, false},
    {"sums are looked at: that of large numbers is inf, the numbers are not", find_sum_of_four,
     false},
    {"it is set to 1, and never back to 0: other tensors have been here before", find_right, true},
    {"it is always set to 1", find_always, false},
    {"it is never set", find_never, false},
};

static float found_after(const OpCalls *ops, int i, FindMistake *finds, bool clears) {
    bool found = false;
    for (int j = 0; j < ops->c[i].n; j++) {
        found = found || finds(ops->in[i], ops->c[i].n, j);
    }
    /* A tensor without elements launches nothing. */
    return found ? 1 : clears && ops->c[i].n > 0 ? 0 : ops->c[i].found_inf;
}

/* The first call whose answer is not as that; `count` if there is none. */
static int found_differs(const OpCalls *ops, FindMistake *finds, bool clears) {
    const float *found = check_got(ops->check, "found_inf", WIRE_F32);
    int i = 0;
    while (i < ops->count && found[i] == found_after(ops, i, finds, clears)) {
        i++;
    }
    return i;
}

/* A mistaken answer in the place of 1. */
typedef bool FoundInstead(float found);

static bool found_number(float found) {
    return !isfinite(found);
}
static bool found_count(float found) {
    return found > 1 && isfinite(found);
}

/* Whether some answers are that, where 1 would be right, and all others are right. */
static bool found_is(const OpCalls *ops, FoundInstead *instead) {
    const float *found = check_got(ops->check, "found_inf", WIRE_F32);
    bool some = false;
    for (int i = 0; i < ops->count; i++) {
        float right = found_after(ops, i, find_right, false);
        if (!(found[i] == right || (right == 1 && instead(found[i])))) {
            return false;
        }
        some |= found[i] != right;
    }
    return some;
}

/* Shows the answer of call i, which is wrong. */
static void found_tell(const OpCalls *ops, int i) {
    const OpCase *c = &ops->c[i];
    const float *found = check_got(ops->check, "found_inf", WIRE_F32);
    float bad = 0;
    for (int j = 0; j < c->n; j++) {
        bad = isfinite(ops->in[i][j]) ? bad : ops->in[i][j];
    }
    check_compared(ops->check, false,
                   "found_inf was %g before %d element%s%s, and is %g afterwards",
                   (double)c->found_inf, c->n, c->n == 1 ? "" : "s",
                   isnan(bad) ? " with a NaN"
                   : bad != 0 ? " with an inf"
                              : ", all finite",
                   (double)found[i]);
    check_fail(ops->check, ops->again
                               ? "right in another order, but threads, warps and blocks come in "
                                 "any: is there a barrier between clearing a flag and setting it?"
                           : bad == 0 ? "all of these were finite: look at each as it comes"
                                      : "whichever element it is, and whichever thread meets it, "
                                        "found_inf[0] must become 1");
}

static bool found_expect(const OpCalls *ops) {
    int wrong = found_differs(ops, find_right, false);
    bool right = wrong == ops->count;
    if (right) {
        check_compared(ops->check, true, "right");
    } else {
        found_tell(ops, wrong);
    }
    for (size_t k = 0; k < sizeof found_mistakes / sizeof *found_mistakes; k++) {
        check_suspect(ops->check, found_mistakes[k].sentence,
                      found_differs(ops, found_mistakes[k].finds, found_mistakes[k].clears) ==
                          ops->count);
    }
    check_suspect(ops->check,
                  "it is 1, however many blocks have found something: store, and do not add",
                  right || found_is(ops, found_count));
    check_suspect(ops->check, "found_inf[0] becomes 1, not the number that was found",
                  right || found_is(ops, found_number));
    return right;
}

void ops_judge_unscale(const OpCalls *ops) {
    if (unscale_expect_elements(ops) && found_expect(ops)) {
        ops_judge_shared(ops, profile_any_kernel);
    }
}
