/* The elements after unscale(), and the flag that it sets. */
#include <float.h>
#include <math.h>

#include "grader/labs/05_fp16/ops.h"

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
static float unscale_until_found(const OpCalls *ops, int i, int j) {
    return ops->c[i].found_inf == 0 ? unscale_right(ops, i, j) : ops->in[i][j];
}
/* Small products are 0, with their sign or without. */
static float unscale_normal(const OpCalls *ops, int i, int j) {
    float right = unscale_right(ops, i, j);
    return fabsf(right) < FLT_MIN ? copysignf(0, right) : right;
}
static float unscale_normal_plus(const OpCalls *ops, int i, int j) {
    float right = unscale_right(ops, i, j);
    return fabsf(right) < FLT_MIN ? 0 : right;
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
    {"where found_inf[0] is 1 before the call nothing is multiplied: grad[i] *= inv_scale holds "
     "even so",
     unscale_until_found},
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
    check_suspect(ops->check,
                  "products below the smallest normal number, 1.2e-38, are 0: floats go on below "
                  "it, with fewer bits",
                  unscale_differs(ops, unscale_normal).i == ops->count ||
                      unscale_differs(ops, unscale_normal_plus).i == ops->count);
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
static bool find_nan_and_plus(const float *in, int n, int j) {
    (void)n;
    return isnan(in[j]) || (isinf(in[j]) && in[j] > 0);
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
    {"-inf is not found: isfinite() looks for both signs", find_nan_and_plus, false},
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

/* Whether all answers are right but those with an inv_scale of 1, which are as before the call. */
static bool found_not_by_one(const OpCalls *ops) {
    const float *found = check_got(ops->check, "found_inf", WIRE_F32);
    bool some = false;
    for (int i = 0; i < ops->count; i++) {
        float right = found_after(ops, i, find_right, false);
        bool one = ops->c[i].inv_scale == 1;
        if (found[i] != (one ? ops->c[i].found_inf : right)) {
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
    check_suspect(ops->check,
                  "with an inv_scale of 1 nothing is multiplied, and inf and NaN are found even so",
                  right || found_not_by_one(ops));
    return right;
}

void ops_judge_unscale(const OpCalls *ops) {
    if (unscale_expect_elements(ops) && found_expect(ops)) {
        ops_judge_shared(ops, ops_shares(ops));
    }
}
