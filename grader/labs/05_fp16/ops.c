#include "grader/labs/05_fp16/ops.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>

void ops_add(OpCalls *ops, const float *in, OpCase c) {
    char name[WIRE_NAME];
    int i = ops->count++;
    CHECK(i < MOST_CASES, "more than %d calls", MOST_CASES);
    ops->c[i] = c;
    ops->in[i] = in;
    check_give(ops->check, op_name(name, "in", i), WIRE_F32, in, (size_t)c.n);
    check_want(ops->check, op_name(name, ops->cast ? "bits" : "out", i),
               ops->cast ? WIRE_U64 : WIRE_F32, (size_t)c.n);
    if (c.back) {
        check_want(ops->check, op_name(name, "back", i), WIRE_F32, (size_t)c.n);
    }
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

bool ops_judge_shared(const OpCalls *ops, ProfileShares shares) {
    double bytes = 0;
    for (int i = 0; i < ops->count; i++) {
        double element = ops->cast ? precision_bytes((Precision)ops->c[i].precision) : 4;
        bytes += (4 + element) * ops->c[i].n * (ops->c[i].back ? 2 : 1);
    }
    return profile_expect_shared(ops->check, bytes, shares);
}

ProfileShares ops_shares(const OpCalls *ops) {
    /* Each of the other calls may have a block that does all. */
    static const ProfileShares most = {.thread = 1.0 / 64, .block = 0.6, .lanes = 1};
    bool many = false;
    for (int i = 0; i < ops->count; i++) {
        many = many || ops->c[i].n > 1 << 20;
    }
    return many ? most : profile_any_kernel;
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
    /* In groups of four, in the rest, or in both. */
    return (beyond && bits == (x > 0 ? 0x7bffu : 0xfbffu)) || cast_right(ops, i, j, bits);
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

static float bits_to_float(uint64_t bits, Precision precision) {
    return precision == F32   ? float_from_bits((uint32_t)bits)
           : precision == F16 ? half_to_float((uint16_t)bits)
                              : bf16_to_float((uint16_t)bits);
}

/* The other direction, which is given: it shares names and types with the hole. */
static bool cast_expect_back(const OpCalls *ops, int i) {
    char name[WIRE_NAME];
    Precision precision = (Precision)ops->c[i].precision;
    const uint64_t *bits = check_got(ops->check, op_name(name, "bits", i), WIRE_U64);
    const float *back = check_got(ops->check, op_name(name, "back", i), WIRE_F32);
    for (int j = 0; j < ops->c[i].n; j++) {
        float want = bits_to_float(bits[j], precision);
        if (!(back[j] == want)) {
            check_compared(ops->check, false,
                           "cast_to_float() of %s, element %d of %d: the bits %#llx gave %g, "
                           "should give %g",
                           precision_name(precision), j, ops->c[i].n, (unsigned long long)bits[j],
                           (double)back[j], (double)want);
            check_fail(ops->check, "this direction is given: something that its kernel uses, or "
                                   "the kernel itself, has been changed");
            return false;
        }
    }
    return true;
}

void ops_judge_cast(const OpCalls *ops) {
    if (cast_compared(ops)) {
        for (int i = 0; i < ops->count; i++) {
            if (ops->c[i].back && !cast_expect_back(ops, i)) {
                return;
            }
        }
        ops_judge_shared(ops, ops_shares(ops));
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
        bytes += ops->c[i].back ? n * sizeof(float) : 0;
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

bool ops_judge_traffic(const OpCalls *ops, double read, double written) {
    double sectors[2];
    if (!ops_judge_shared(ops, profile_good_kernel) ||
        !profile_expect_neighbours(ops->check, sectors)) {
        return false;
    }
    bool one_pass = sectors[0] <= PROFILE_MOST_SECTORS * read / written * sectors[1];
    if (!one_pass) {
        check_fail(ops->check,
                   "where %.0f sectors are written, %.0f are read, and %.0f would do: one pass "
                   "over memory",
                   sectors[1], sectors[0], read / written * sectors[1]);
    }
    return one_pass;
}

void ops_judge_launches(const OpCalls *ops) {
    static const uint64_t many = 300000000;
    check_give(ops->check, "many", WIRE_U64, &many, 1);
    profile_expect_launches(ops->check, ops->cast ? "ops/cast_launches" : "ops/unscale_launches",
                            OP_SECONDS, "300,000,000 numbers");
}
