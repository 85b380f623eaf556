#include "grader/compare.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "kernels/half.h"

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
//! [tolerances]

Tolerance tolerance_of_op(Precision precision, int terms) {
    double growth = terms > 64 ? sqrt(terms / 64.0) : 1;
    double sums = unit[F32] * 16 * growth;
    return (Tolerance){.relative = op_relative[precision],
                       .scaled = op_scaled[precision] + sums,
                       .norm = op_norm[precision] + sums};
}

Tolerance tolerance_of_model(Precision precision) {
    return model_tolerance[precision];
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
        largest = fmax(largest, fabs(values[i]));
    }
    return largest;
}

/* By the bits: a compiler may be told that no float is ever infinite, an integer cannot be. */
static bool is_finite(float x) {
    return (float_bits(x) & 0x7f800000u) != 0x7f800000u;
}

Comparison compare(const float *got, const double *want, size_t n, Tolerance tolerance) {
    Comparison result = {.count = n};
    double largest = largest_of(want, n);
    double dot = 0, got_squares = 0, want_squares = 0, error_squares = 0;
    for (size_t i = 0; i < n; i++) {
        double error = fabs((double)got[i] - want[i]);
        double limit = limit_of(want[i], largest, tolerance);
        bool finite = is_finite(got[i]);
        double share = !finite ? HUGE_VAL : error == 0 ? 0 : error / limit;
        result.not_finite += !finite;
        if (i == 0 || share > result.share) {
            result.share = share;
            result.worst = i;
            result.got = (double)got[i];
            result.want = want[i];
            result.limit = limit;
        }
        dot += (double)got[i] * want[i];
        got_squares += (double)got[i] * (double)got[i];
        want_squares += want[i] * want[i];
        error_squares += error * error;
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

/* Right up to some element and wrong from there on, or the other way round. */
static void read_border(const float *got, const double *want, size_t n, Tolerance tolerance,
                        char *text) {
    enum { MANY = 16 }; /* of few, that half are right says nothing */
    double largest = largest_of(want, n);
    size_t borders = 0, border = 0;
    bool begins_right = false, holds = false;
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
                 "the first %zu of %zu are right, and none behind them: what ends too early?",
                 border, n);
    } else if (borders == 1 && !begins_right && n - border >= MANY) {
        snprintf(text, COMPARISON_TEXT,
                 "the first %zu of %zu are wrong, and none behind them: what begins too late?",
                 border, n);
    }
}

const char *comparison_shape(const float *got, const double *want, size_t n, Tolerance tolerance,
                             char *text) {
    Comparison c = compare(got, want, n, tolerance);
    text[0] = '\0';
    if (c.not_finite > 0) {
        snprintf(text, COMPARISON_TEXT,
                 "inf and NaN come from dividing by 0, from log(0), from what is too large for its "
                 "type, or from memory that nobody has written");
    } else if (c.ratio == 0) {
        snprintf(text, COMPARISON_TEXT, "all of it is 0: never computed, or cleared since");
    } else if (is_multiple(got, want, n, -1, tolerance)) {
        snprintf(text, COMPARISON_TEXT, "right but for its sign, which is the opposite one");
    } else if (n > 1 && is_multiple(got, want, n, copysign(c.ratio, c.cosine), tolerance)) {
        snprintf(text, COMPARISON_TEXT,
                 "all of it is %.4g times what it should be: a factor or a divisor is wrong",
                 copysign(c.ratio, c.cosine));
    } else {
        read_border(got, want, n, tolerance, text);
    }
    return text;
}

const char *comparison_text(const Comparison *comparison, const char *name, char *text) {
    int length = snprintf(text, COMPARISON_TEXT,
                          "%s[%zu]: got %.9g, want %.9g, limit %.2g; %.3g "
                          "of the limit used, relative error of the norm %.2g",
                          name, comparison->worst, comparison->got, comparison->want,
                          comparison->limit, comparison->share, comparison->norm_error);
    size_t used = length < COMPARISON_TEXT ? (size_t)length : COMPARISON_TEXT - 1;
    if (comparison->not_finite > 0) {
        snprintf(text + used, COMPARISON_TEXT - used, "; %zu of %zu are inf or NaN",
                 comparison->not_finite, comparison->count);
    } else if (!comparison->pass && comparison->cosine > 0.9999) {
        snprintf(text + used, COMPARISON_TEXT - used, "; direction right, scale %.4g times",
                 comparison->ratio);
    }
    return text;
}
