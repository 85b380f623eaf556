/**
 * @file 02_update.h
 * @brief Judge of lab 02: the ops that go over all parameters, sumsq and adamw: inputs, what should
 * come back, and what known mistakes give.
 * @ingroup grader
 */
#ifndef GRADER_JUDGES_02_UPDATE_H
#define GRADER_JUDGES_02_UPDATE_H

#include <math.h>

#include "grader/judges/02_calls.h"
#include "grader/reference.h"

/* ---- sumsq ----------------------------------------------------------------------------------- */

static inline void add_sumsq(Calls *calls, int n, double scale, bool partials) {
    int i = call_add(calls, F32, n, 1);
    double *x = give_normal(calls, i, "x", (size_t)n, scale, F32);
    double squares = 0, sum = 0, without_tail = 0;
    for (int k = 0; k < n; k++) {
        squares += x[k] * x[k];
        sum += x[k];
        without_tail += k < n / 4 * 4 ? x[k] * x[k] : 0;
    }
    double *out = check_doubles(calls->check, 1), *want = check_doubles(calls->check, 1);
    out[0] = (double)(float)(partials ? 0 : (n > 0 ? squares : 1) * (0.5 + 0.1 * i));
    give_doubles(calls, i, "out", out, 1);
    want[0] = out[0] + squares;
    Tolerance tolerance = tolerance_of_op(F32, n > 0 ? n : 1);
    Expected *e = expect(calls, i, partials ? "partial" : "out", want, 1,
                         partials ? KERNEL_PARTIALS : 0, tolerance);
    *suspect(calls, e, "the numbers are added, not their squares", NULL) = out[0] + sum;
    *suspect(calls, e, "the last n % PACK numbers are left out", NULL) = out[0] + without_tail;
    if (!partials) {
        *suspect(calls, e, "= where += is meant: out is a chain over many tensors", NULL) = squares;
        *suspect(calls, e, "the root is taken here; it belongs to the caller", NULL) =
            out[0] + sqrt(squares);
    }
}

/* ---- adamw ----------------------------------------------------------------------------------- */

/* An update with a mistake; reference_adamw() is the right one. */
typedef enum Slip {
    EPSILON_INSIDE,
    NO_CORRECTION,
    CORRECTS_M_ONLY,
    LATE_T,
    COUPLED,
    DECAY_WITHOUT_RATE,
    NO_DECAY,
    SLIPS,
} Slip;

static const char *const slip_sentence[SLIPS] = {
    [EPSILON_INSIDE] = "epsilon is inside of the root; it is added to the root",
    [NO_CORRECTION] = "the bias correction is missing: m and v are too small by 1 - beta^t",
    [CORRECTS_M_ONLY] = "m is corrected and v is not",
    [LATE_T] = "t is one too large: steps count from 1, and t is this one",
    [COUPLED] = "the weight decay goes into the gradient: that is Adam with L2, not AdamW",
    [DECAY_WITHOUT_RATE] = "the weight decay is not multiplied by the learning rate",
    [NO_DECAY] = "the weight decay is missing",
};

static inline double slipped(Slip slip, double w, double m, double v, double g, AdamW a, int t) {
    double lr = (double)a.learning_rate, b1 = (double)a.beta1, b2 = (double)a.beta2;
    double epsilon = (double)a.epsilon, decay = (double)a.weight_decay;
    g += slip == COUPLED ? decay * w : 0;
    m = b1 * m + (1 - b1) * g;
    v = b2 * v + (1 - b2) * g * g;
    t += slip == LATE_T;
    m /= slip == NO_CORRECTION ? 1 : 1 - pow(b1, t);
    v /= slip == NO_CORRECTION || slip == CORRECTS_M_ONLY ? 1 : 1 - pow(b2, t);
    double step = m / (slip == EPSILON_INSIDE ? sqrt(v + epsilon) : sqrt(v) + epsilon);
    double shrink = slip == COUPLED || slip == NO_DECAY ? 0 : decay * w;
    return w - (slip == DECAY_WITHOUT_RATE ? lr * step + shrink : lr * (step + shrink));
}

/* An update may cancel most of the number that it starts from, and keeps that number's rounding. */
static inline void allow_cancelling(Expected *expected, double norm_before) {
    double condition = fmax(1, norm_before / norm_of(expected->want, expected->n));
    expected->tolerance.scaled *= condition;
    expected->tolerance.norm *= condition;
}

static inline void add_adamw(Calls *calls, int n, AdamW a, int t) {
    int i = call_add(calls, F32, n, 1);
    size_t count = (size_t)n;
    calls->c[i].t = t;
    calls->c[i].adamw = a;
    double *weight = give_normal(calls, i, "weight", count, 1, F32);
    double *grad = give_normal(calls, i, "grad", count, 0.1, F32);
    double *m = give_normal(calls, i, "m", count, 0.05, F32);
    float *squares = check_normal(calls->check, count, 0.1, F32);
    for (size_t k = 0; k < count; k++) {
        squares[k] *= squares[k];
    }
    give(calls, i, "v", squares, count);
    double *v = doubles(calls, squares, count);
    Expected *of_m = expect(calls, i, "m", m, count, 0, tolerance_of_op(F32, 1));
    Expected *of_v = expect(calls, i, "v", v, count, 0, tolerance_of_op(F32, 1));
    Expected *of_weight = expect(calls, i, "weight", weight, count, 0, tolerance_of_op(F32, 1));
    double *whole = suspect(calls, of_m, "g is added whole, not (1 - beta1) of it", m);
    double *decayed = suspect(calls, of_m, slip_sentence[COUPLED], m);
    double *plain = suspect(calls, of_v, "v takes g where it should take its square", v);
    for (size_t k = 0; k < count; k++) {
        double pulled = grad[k] + (double)a.weight_decay * weight[k];
        whole[k] = (double)a.beta1 * m[k] + grad[k];
        decayed[k] = (double)a.beta1 * m[k] + (1 - (double)a.beta1) * pulled;
        plain[k] = (double)a.beta2 * v[k] + (1 - (double)a.beta2) * grad[k];
    }
    for (Slip slip = 0; slip < SLIPS; slip++) {
        double *wrong = suspect(calls, of_weight, slip_sentence[slip], weight);
        for (size_t k = 0; k < count; k++) {
            wrong[k] = slipped(slip, weight[k], m[k], v[k], grad[k], a, t);
        }
    }
    double norm_of_m = norm_of(m, count), norm_of_weight = norm_of(weight, count);
    reference_adamw(weight, m, v, grad, count, (double)a.learning_rate, (double)a.beta1,
                    (double)a.beta2, (double)a.epsilon, (double)a.weight_decay, t);
    if (count > 0) {
        allow_cancelling(of_m, norm_of_m);
        allow_cancelling(of_weight, norm_of_weight);
    }
}

#endif
