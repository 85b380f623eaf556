/* The comparator of tests and judges: two rules, one table of tolerances, and a guess at the
   mistake. The contract is in compare.h. */
#include "common/testkit/compare.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/unset.h"
#include "kernels/half.h"

enum { LIMIT_TEXT = 64, NUMBER_TEXT = 32 };

/* A ratio that is further from 1 says something: the scale is wrong. */
static const double CLEAR_RATIO = 0.01;

/* The table of tolerances; docs/numerics.md derives it. `unit` is the unit roundoff of the storage
   type: half the distance from 1 to the next number. */
//! [tolerances]
static const double unit[] = {[F32] = 0x1p-24, [F16] = 0x1p-11, [BF16] = 0x1p-8};

/* One op: its result is rounded once (1 unit), to which what it added to was rounded too; sums of K
   floats err by some sqrt(K) units of float. In half, what an op keeps between its steps (the
   probabilities of attention) is rounded as well, hence `scaled`. */
static const double op_relative[] = {[F32] = 1e-4, [F16] = 2 * 0x1p-11, [BF16] = 2 * 0x1p-8};
static const double op_scaled[] = {[F32] = 1e-6, [F16] = 0x1p-11, [BF16] = 0x1p-8};
static const double op_norm[] = {[F32] = 1e-6, [F16] = 2 * 0x1p-11, [BF16] = 2 * 0x1p-8};

/* A whole model: every activation and its gradient is rounded, some 20 of them in a row. Four times
   what our own ops were measured to need on the models of the tests. */
static const Tolerance model_tolerance[] = {
    [F32] = {.relative = 1e-4, .scaled = 1e-5, .norm = 1e-5},
    [F16] = {.relative = 2e-2, .scaled = 1e-2, .norm = 1e-2},
    [BF16] = {.relative = 16e-2, .scaled = 8e-2, .norm = 8e-2},
};
/* The loss: in half one unit, of which our own ops were measured to need an eighth. */
static const double loss_tolerance[] = {[F32] = 16 * 0x1p-24, [F16] = 0x1p-11, [BF16] = 0x1p-8};

/* No rounding of float in it: what both sides compute in double. */
static const double double_tolerance = 1e-12;
//! [tolerances]

Tolerance tolerance_of_op(Precision precision, int terms) {
    double growth = terms > 64 ? sqrt(terms / 64.0) : 1;
    double sums = unit[F32] * 16 * growth;
    return (Tolerance){.relative = op_relative[precision],
                       .scaled = op_scaled[precision] + sums,
                       .norm = op_norm[precision] + sums};
}

Tolerance tolerance_magnified(Tolerance tolerance, double times) {
    tolerance.scaled += times * 2 * unit[F32];
    tolerance.norm += times * 2 * unit[F32];
    return tolerance;
}

Tolerance tolerance_of_model(Precision precision) {
    return model_tolerance[precision];
}

double tolerance_of_loss(Precision precision) {
    return loss_tolerance[precision];
}

double tolerance_of_double(void) {
    return double_tolerance;
}

double norm_of(const double *values, size_t n) {
    double squares = 0;
    for (size_t i = 0; i < n; i++) {
        squares += values[i] * values[i];
    }
    return sqrt(squares);
}

/* How far an element may be off where the largest of all has this size. */
static double limit_of(double want, double largest, Tolerance tolerance) {
    return tolerance.relative * fabs(want) + tolerance.scaled * largest;
}

static double largest_of(const double *values, size_t n) {
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        largest = isfinite(values[i]) ? fmax(largest, fabs(values[i])) : largest;
    }
    return largest;
}

/* By the bits: a compiler may be told that no float is ever infinite, an integer cannot be. */
static bool is_finite(float x) {
    return (float_bits(x) & 0x7f800000u) != 0x7f800000u;
}

/* With `data`, inf and NaN in `want` are right answers: see compare_data(). */
static Comparison compare_all(const float *got, const double *want, size_t n, Tolerance tolerance,
                              bool data) {
    Comparison result = {.count = n};
    double largest = largest_of(want, n);
    double dot = 0, got_squares = 0, want_squares = 0, error_squares = 0;
    for (size_t i = 0; i < n; i++) {
        bool finite = is_finite(got[i]), is_data = data && !isfinite(want[i]);
        if (is_data && !finite) {
            continue;
        }
        double error = fabs((double)got[i] - want[i]);
        double limit = limit_of(want[i], largest, tolerance);
        double share = !finite || is_data ? HUGE_VAL : error == 0 ? 0 : error / limit;
        result.not_finite += !finite;
        result.lost += is_data;
        if (i == 0 || share > result.share) {
            result.share = share;
            result.worst = i;
            result.got = (double)got[i];
            result.want = want[i];
            result.limit = limit;
        }
        if (!is_data) {
            dot += (double)got[i] * want[i];
            got_squares += (double)got[i] * (double)got[i];
            want_squares += want[i] * want[i];
            error_squares += error * error;
        }
    }
    double norm = sqrt(want_squares);
    result.norm_error = error_squares == 0 ? 0 : sqrt(error_squares) / norm;
    result.cosine = dot / (sqrt(got_squares) * norm);
    result.ratio = sqrt(got_squares) / norm;
    double norm_share = result.norm_error / tolerance.norm;
    bool elements_hold = n == 0 || result.share <= 1;
    if (!(norm_share <= result.share)) {
        result.share = norm_share;
    }
    result.pass = result.not_finite == 0 && elements_hold && result.norm_error <= tolerance.norm;
    return result;
}

Comparison compare(const float *got, const double *want, size_t n, Tolerance tolerance) {
    return compare_all(got, want, n, tolerance, false);
}

Comparison compare_data(const float *got, const double *want, size_t n, Tolerance tolerance) {
    return compare_all(got, want, n, tolerance, true);
}

/* ---- what a difference looks like ------------------------------------------------------------ */

static bool is_multiple(const float *got, const double *want, size_t n, double factor,
                        Tolerance tolerance) {
    double *multiple = calloc(n, sizeof *multiple);
    CHECK(multiple != NULL, "no memory for %zu numbers", n);
    for (size_t i = 0; i < n; i++) {
        multiple[i] = factor * want[i];
    }
    bool good = compare(got, multiple, n, tolerance).pass;
    free(multiple);
    return good;
}

const char *comparison_border(const float *got, const double *want, size_t n, Tolerance tolerance,
                              char *text) {
    enum { MANY = 16 }; /* of few, that half are right says nothing */
    double largest = largest_of(want, n);
    size_t borders = 0, border = 0;
    bool begins_right = false, holds = false;
    text[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        bool before = holds;
        holds = fabs((double)got[i] - want[i]) <= limit_of(want[i], largest, tolerance);
        if (i == 0) {
            begins_right = holds;
        } else if (holds != before) {
            borders++;
            border = i;
        }
    }
    if (borders == 1 && begins_right && border >= MANY) {
        snprintf(text, COMPARISON_TEXT,
                 "the first %zu of %zu elements are right, all later ones wrong: does a loop "
                 "stop too early?",
                 border, n);
    } else if (borders == 1 && !begins_right && n - border >= MANY) {
        snprintf(text, COMPARISON_TEXT,
                 "the first %zu of %zu elements are wrong, all later ones right: does a loop "
                 "begin too late?",
                 border, n);
    }
    return text;
}

DifferenceShape comparison_kind(const float *got, const double *want, size_t n,
                                Tolerance tolerance) {
    Comparison c = compare_data(got, want, n, tolerance);
    double factor = copysign(c.ratio, c.cosine);
    if (c.not_finite > 0) {
        return (DifferenceShape){SHAPE_NOT_FINITE, 0};
    }
    if (c.lost > 0) {
        return (DifferenceShape){SHAPE_LOST, 0};
    }
    if (unset_float((float)c.got)) {
        return (DifferenceShape){SHAPE_UNSET, 0};
    }
    if (c.ratio == 0) {
        return (DifferenceShape){SHAPE_ZERO, 0};
    }
    if (is_multiple(got, want, n, -1, tolerance)) {
        return (DifferenceShape){SHAPE_SIGN, -1};
    }
    /* a factor of nearly 1 is what rounding makes of the right numbers */
    bool scaled = isfinite(factor) && !(fabs(factor - 1) < 1e-4) &&
                  is_multiple(got, want, n, factor, tolerance);
    return scaled ? (DifferenceShape){SHAPE_FACTOR, factor} : (DifferenceShape){SHAPE_NONE, 0};
}

const char *shape_text(DifferenceShape shape, char *text) {
    static const char *const sentence[] = {
        [SHAPE_NONE] = "",
        [SHAPE_NOT_FINITE] =
            ("inf and NaN come from division by 0, from log(0), from inf - inf, from overflow, or "
             "from memory that was never written, or a variable that was never set"),
        [SHAPE_LOST] = "inf and NaN are data: what is computed of one is not finite either; here "
                       "one is left out, or cut to the largest number",
        [SHAPE_UNSET] = "a number near -1.7e38 is what a variable holds that was never set",
        [SHAPE_ZERO] = "all elements are 0: never computed, or cleared afterwards",
        [SHAPE_SIGN] = "right except for the sign",
    };
    if (shape.kind == SHAPE_FACTOR) {
        int digits = fabs(shape.factor - 1) < 1e-3 ? 6 : 4; /* never "1 times" */
        snprintf(text, COMPARISON_TEXT,
                 "every element is %.*g times the right one: a factor or a divisor is wrong",
                 digits, shape.factor);
    } else {
        snprintf(text, COMPARISON_TEXT, "%s", sentence[shape.kind]);
    }
    return text;
}

/* "limit 6.2e-07: 1,903 times the limit", or that there is none. */
static void limit_text(const Comparison *comparison, char text[LIMIT_TEXT]) {
    double limit = comparison->limit, share = comparison->share;
    if (limit == 0) {
        snprintf(text, LIMIT_TEXT, "must be equal bit for bit");
    } else if (!isfinite(share)) {
        snprintf(text, LIMIT_TEXT, "limit %.2g", limit);
    } else if (share >= 1000 && share < 1e6) {
        int times = (int)share;
        snprintf(text, LIMIT_TEXT, "limit %.2g: %d,%03d times the limit", limit, times / 1000,
                 times % 1000);
    } else {
        snprintf(text, LIMIT_TEXT, "limit %.2g: %.3g times the limit", limit, share);
    }
}

/* As people write it: "NaN", where printf has "-nan". */
static void number_text(double x, char text[NUMBER_TEXT]) {
    if (isnan(x)) {
        snprintf(text, NUMBER_TEXT, "NaN");
    } else {
        snprintf(text, NUMBER_TEXT, "%.9g", x);
    }
}

const char *comparison_text(const Comparison *comparison, const char *name, char *text) {
    char limit[LIMIT_TEXT], got[NUMBER_TEXT], want[NUMBER_TEXT], index[NUMBER_TEXT] = "",
                                                                 norm[LIMIT_TEXT] = "";
    limit_text(comparison, limit);
    number_text(comparison->got, got);
    number_text(comparison->want, want);
    if (comparison->count > 1) { /* of one number there is no norm to speak of */
        snprintf(index, sizeof index, "[%zu]", comparison->worst);
        if (isfinite(comparison->norm_error)) {
            snprintf(norm, sizeof norm, ", relative error of the norm %.2g",
                     comparison->norm_error);
        }
    }
    if (comparison->lost > 0) {
        snprintf(text, COMPARISON_TEXT, "%s%s: got %s, want %s", name, index, got, want);
        return text;
    }
    int length = snprintf(text, COMPARISON_TEXT, "%s%s: got %s, want %s, %s%s", name, index, got,
                          want, limit, norm);
    size_t used = length < COMPARISON_TEXT ? (size_t)length : COMPARISON_TEXT - 1;
    if (comparison->not_finite > 0) {
        snprintf(text + used, COMPARISON_TEXT - used, "; %zu of %zu are inf or NaN",
                 comparison->not_finite, comparison->count);
    } else if (!comparison->pass && comparison->cosine > 0.9999 &&
               fabs(comparison->ratio - 1) > CLEAR_RATIO) {
        snprintf(text + used, COMPARISON_TEXT - used,
                 "; the direction is right, the size %.4g times the right one", comparison->ratio);
    }
    return text;
}
