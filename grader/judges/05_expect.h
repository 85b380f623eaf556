/**
 * @file 05_expect.h
 * @brief Lab 05 in the judge: what a window must have done, and the sentence where it has not.
 * @ingroup grader
 */
#ifndef GRADER_JUDGES_05_EXPECT_H
#define GRADER_JUDGES_05_EXPECT_H

#include "grader/judges/05_windows.h"

/* ---- gradients ------------------------------------------------------------------------------- */

static inline bool expect_gradients(const Job *job, int w, double scale, double limit) {
    bool clips = limit > 0 && job->norm > limit;
    double factor = reference_clip(job->norm, limit);
    Suspect suspects[] = {
        {"the gradients are still scaled when the optimizer steps: they were never unscaled",
         scaled(job, scale)},
        {"the gradients were clipped while they were still scaled: unscale first, then clip",
         scaled(job, clips ? factor / scale : 0)},
        {"the gradients were unscaled twice", scaled(job, 1 / scale)},
        {"the gradients are multiplied by the scale, not divided: 1 / scale is what unscale() "
         "wants",
         scaled(job, clips ? factor : scale * scale)},
        {"the gradients are not clipped when the optimizer steps", scaled(job, 1)},
        {"all gradients are zero when the optimizer steps: model_zero_grad() comes too early",
         scaled(job, 0)},
        {"backward was given `share`, not share * scale, and the gradients were unscaled all the "
         "same",
         scaled(job, factor / scale)},
    };
    return stepped(job, w) &&
           expect_all(&job->given, NAME_GRADIENT, w, scaled(job, factor),
                      tolerance_of_model(job->given.config.precision), suspects, 7);
}

/* At most three times as far from the reference as the kit's own half is. A norm that is off by no
   more than 0.01 has a cosine above 0.9999. */
static inline void expect_small_error(const Job *job, int w, float scale) {
    const float *kit = kit_gradient(job, scale);
    double *got = got_all(&job->given, NAME_GRADIENT, w), kit_error = 0, error = 0;
    for (size_t i = 0; i < job->given.P; i++) {
        kit_error += pow((double)kit[i] - job->gradient[i], 2);
        error += pow(got[i] - job->gradient[i], 2);
    }
    if (!(error <= 9 * kit_error)) {
        check_fail(job->given.check,
                   "all gradients together are %.1f times as far from those of a float model as "
                   "rounding to half explains (3 is allowed)",
                   sqrt(error / kit_error));
    }
}

static inline void expect_report(const Job *job, double scale) {
    double norm[] = {job->norm}, wrong[] = {job->norm * scale},
           after[] = {(double)job->given.max_norm};
    double none[] = {0}, rate[] = {(double)schedule_rate(&job->given.schedule)};
    Suspect norms[] = {
        {"this is the norm of the scaled gradients: unscale first", wrong},
        {"this is the norm after clipping; optimizer_clip() returns the one before", after},
        {"report->grad_norm is not set", none}};
    Suspect rates[] = {{"report->learning_rate is not set", none}};
    check_close(job->given.check, "grad_norm", norm, 1, tolerance_of_model(F16), norms, 3);
    check_close(job->given.check, "learning_rate", rate, 1, tolerance_of_op(F32, 1), rates, 1);
}

/* ---- numbers that are not finite ------------------------------------------------------------- */

static const char *const bad_name[] = {"nothing", "+inf", "-inf", "NaN"};

static const float *states(const Job *job, int w) {
    char name[WIRE_NAME];
    return check_got(job->given.check, op_name(name, NAME_STATES, w), WIRE_F32);
}

/* Which of weights, masters, m, v differ between two windows; NULL if none does. */
static const char *changed(const Job *job, int a, int b) {
    static const char *const kind[] = {"weights", "masters", "m", "v"};
    for (size_t k = 0; k < 4; k++) {
        if (memcmp(states(job, a) + k * job->given.P, states(job, b) + k * job->given.P,
                   job->given.P * sizeof(float)) != 0) {
            return kind[k];
        }
    }
    return NULL;
}

static inline bool gradients_left(const Job *job, int w) {
    const float *gradients = states(job, w) + 4 * job->given.P;
    for (size_t i = 0; i < job->given.P; i++) {
        if (!(gradients[i] == 0)) {
            return true;
        }
    }
    return false;
}

static float reported(const Job *job, const char *what, int w) {
    return ((const float *)check_got(job->given.check, what, WIRE_F32))[w];
}

/* What is wrong with a window that had a bad number, or NULL. `before` is the good one before. */
static const char *wrong_with_bad(const Job *job, int w, int before) {
    static char text[200];
    const char *what = changed(job, w, before);
    if (traced(job, w, SKIPPED) == 0 && traced(job, w, STEPPED) != 0) {
        return "was not noticed, and the step was taken";
    }
    if (traced(job, w, STEPPED) != 0) {
        return "was noticed, but optimizer_step() was called all the same";
    }
    if (what != NULL) {
        snprintf(text, sizeof text, "has changed the %s: a skipped step leaves all as it was",
                 what);
        return text;
    }
    if (traced(job, w, SKIPPED) != 1) {
        return "kept the step from being taken, but report->skipped is not set";
    }
    if (isfinite(reported(job, "grad_norm", w)) || !(reported(job, "learning_rate", w) > 0)) {
        return "skipped the step, but the report lacks its norm or its rate: they are told either "
               "way";
    }
    if (traced(job, w, T_STEPS) != traced(job, before, T_STEPS)) {
        return "was a step for the optimizer's t";
    }
    if (traced(job, w, TICKS) != traced(job, before, TICKS)) {
        return "was a tick of the schedule: mixed_update() leaves that to its caller";
    }
    if (gradients_left(job, w)) {
        return "is still in the gradients when the window ends: zero them after a skipped step too";
    }
    if (traced(job, w, SCALE) != (uint64_t)job->window[w].scale / 2) {
        return "did not halve the scale (or not once): scaler_update() comes once in each window";
    }
    return NULL;
}

static inline void expect_bad_skipped(const Job *job, int w, int before) {
    const Window *window = &job->window[w];
    const Param *param = &job->given.reference->params[window->param];
    const char *wrong = wrong_with_bad(job, w, before);
    if (wrong != NULL) {
        check_fail(job->given.check,
                   "%s in the gradient of %s (layer %d), after micro-batch %d of 3, %s",
                   bad_name[window->bad], param->name, param->layer, window->micro + 1, wrong);
    } else {
        check_good(job->given.check);
    }
}

static inline void expect_good_taken(const Job *job, int w, int before) {
    if (traced(job, w, SKIPPED) != 0 || traced(job, w, STEPPED) != 1) {
        check_fail(job->given.check,
                   "window %d had finite gradients, but its step was skipped (or taken "
                   "more than once)",
                   w + 1);
    } else if (before >= 0 && changed(job, w, before) == NULL) {
        check_fail(job->given.check, "nothing was learned from window %d", w + 1);
    } else if (gradients_left(job, w)) {
        check_fail(job->given.check, "gradients are left when window %d ends: model_zero_grad()",
                   w + 1);
    }
}

/* (6 * windows) what the trace should be. */
static inline uint64_t *right_trace(const Job *job, Slip slip, bool skip_counts) {
    uint64_t *trace = (uint64_t *)check_doubles(job->given.check, COLUMNS * (size_t)job->windows);
    Automaton a = job->scaler;
    uint64_t t = 0, ticks = 0;
    for (int w = 0; w < job->windows; w++) {
        bool bad = job->window[w].bad != BAD_NONE;
        automaton_step(&a, bad, slip);
        t += !bad || skip_counts;
        ticks += !bad;
        const uint64_t row[] = {(uint64_t)a.scale,  (uint64_t)a.good_steps, bad, t, ticks,
                                !bad || skip_counts};
        memcpy(trace + COLUMNS * w, row, sizeof row);
    }
    return trace;
}

/* ---- masters --------------------------------------------------------------------------------- */

/* (P) as half can hold it */
static inline double *halves_of(const Job *job, const double *values) {
    double *to = check_doubles(job->given.check, job->given.P);
    for (size_t i = 0; i < job->given.P; i++) {
        to[i] = (double)precision_round(job->given.config.precision, (float)values[i]);
    }
    return to;
}

/* (P) masters after a window, had its rate been this one. */
static inline double *masters_at(const Job *job, int w, const double *master, const double *m,
                                 const double *v, double rate) {
    size_t bytes = job->given.P * sizeof(double);
    double *values[3];
    const double *from[] = {master, m, v};
    for (int i = 0; i < 3; i++) {
        values[i] = check_doubles(job->given.check, job->given.P);
        memcpy(values[i], from[i], bytes);
    }
    adamw_all(&job->given, values[0], values[1], values[2], got_all(&job->given, NAME_GRADIENT, w),
              rate, w + 1);
    return values[0];
}

/* Masters by AdamW in double, weights by rounding the masters that came back: exactly. */
static inline void expect_updates(Job *job) {
    double *master = check_doubles(job->given.check, job->given.P),
           *m = check_doubles(job->given.check, job->given.P);
    double *v = check_doubles(job->given.check, job->given.P),
           *weights = check_doubles(job->given.check, job->given.P);
    for (size_t i = 0; i < job->given.P; i++) {
        master[i] = weights[i] = (double)job->given.start[i];
    }
    for (int w = 0; w < job->windows && stepped(job, w); w++) {
        Tolerance tolerance = tolerance_of_op(F32, 1), exactly = {0, 0, 0};
        double *own_rate =
            at_own_rate(&job->given, NAME_MASTER, w, masters_at(job, w, master, m, v, 0),
                        masters_at(job, w, master, m, v, 1));
        adamw_all(&job->given, master, m, v, got_all(&job->given, NAME_GRADIENT, w),
                  rate_of(&job->given, w), w + 1);
        Suspect masters[] = {{"the masters are rounded as well: weights come from masters, never "
                              "masters from weights",
                              halves_of(job, master)},
                             {OTHER_RATE, own_rate}};
        Suspect stale[] = {{"the weights are those of the window before: after optimizer_step(), "
                            "write the masters, rounded, into the weights",
                            weights}};
        expect_all(&job->given, NAME_M, w, m, tolerance, NULL, 0);
        expect_all(&job->given, NAME_V, w, v, tolerance, NULL, 0);
        if (!expect_all(&job->given, NAME_MASTER, w, master, tolerance, masters, 2)) {
            return;
        }
        master = got_all(&job->given, NAME_MASTER, w);
        if (!expect_all(&job->given, NAME_WEIGHT, w, halves_of(job, master), exactly, stale, 1)) {
            return;
        }
        weights = got_all(&job->given, NAME_WEIGHT, w);
    }
}

#endif
