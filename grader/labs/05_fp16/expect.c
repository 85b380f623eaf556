#include "grader/labs/05_fp16/expect.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- gradients ------------------------------------------------------------------------------- */

void job_expect_dloss(const Job *job, double scale) {
    const float *dloss = check_got(job->windows.given.check, "dloss", WIRE_F32);
    double share = job_share(job), want = share * scale;
    for (int k = 0; k < 3; k++) {
        double got = (double)dloss[k];
        if (fabs(got / want - 1) <= 1e-6) {
            continue;
        }
        const char *why = k > 0 && !(dloss[k] == dloss[0])
                              ? "the scale stays the same within a window"
                          : fabs(got / scale - 1) <= 1e-6 ? "the share is missing"
                          : fabs(got / share - 1) <= 1e-6 ? "the scale is missing"
                          : fabs(got * scale / share - 1) <= 1e-6
                              ? "the share is divided by the scale: it is multiplied by it"
                              : "it is what mixed_scale() returns";
        check_fail(job->windows.given.check,
                   "backward of micro-batch %d was given %g, not share * scale = %g: %s", k + 1,
                   got, want, why);
        return;
    }
}

/* (P) the window's gradient times that, then clipped to the limit, times that; NAN: a mistake that
   cannot be made here. */
static double *job_clipped(const Job *job, double before, double limit, double after) {
    return job_scaled(job, before * reference_clip(before * job->norm, limit) * after);
}

bool job_expect_gradients(const Job *job, int w, double scale, double limit) {
    bool clips = limit > 0 && job->norm > limit, spares = limit > 0 && !clips;
    bool clips_scaled = limit > 0 && job->norm * scale > limit;
    bool grows = job->scaler.interval == 1 && job->windows.given.config.precision == F16;
    Suspect suspects[] = {
        {"the gradients are still scaled when the optimizer steps: they were never unscaled",
         job_clipped(job, scale, limit, 1)},
        {"the gradients were clipped while they were still scaled: unscale first, then clip",
         job_clipped(job, clips_scaled ? scale : (double)NAN, limit, 1 / scale)},
        {"the gradients were unscaled twice", job_clipped(job, 1 / scale, limit, 1)},
        {"the gradients are divided by a scale that has grown since they were scaled: "
         "scaler_update() comes last",
         job_clipped(job, grows ? 1 / job->scaler.growth : (double)NAN, limit, 1)},
        {"the gradients are multiplied by the scale, not divided: 1 / scale is what unscale() "
         "wants",
         job_clipped(job, scale * scale, limit, 1)},
        {"the gradients are not clipped to trainer->max_grad_norm when the optimizer steps",
         job_scaled(job, clips ? 1 : (double)NAN)},
        {"the gradients are scaled up to the limit: clipping leaves alone what is below it",
         job_scaled(job, spares ? limit / job->norm : (double)NAN)},
        {"the gradients are clipped to a norm of 1: the limit is trainer->max_grad_norm, and 0 is "
         "none",
         job_clipped(job, job->norm > 1 ? 1 : (double)NAN, 1, 1)},
        {limit > 0 ? "all gradients are zero when the optimizer steps: model_zero_grad() comes too "
                     "early, or 1 / scale is taken in whole numbers, where it is 0"
                   : "all gradients are zero when the optimizer steps: model_zero_grad() comes too "
                     "early, or 1 / scale is taken in whole numbers, where it is 0, or a "
                     "max_grad_norm of 0 is taken for a limit: it is none",
         job_scaled(job, 0)},
    };
    if (!job_stepped(job, w)) {
        return false;
    }
    if (w == 0) {
        job_expect_dloss(job, scale); /* where that is wrong, the numbers are wrong for it */
    }
    return given_expect(&job->windows.given, NAME_GRADIENT, w, job_clipped(job, 1, limit, 1),
                        tolerance_of_model(job->windows.given.config.precision), suspects,
                        sizeof suspects / sizeof *suspects);
}

void job_expect_small_error(const Job *job, int w, float scale) {
    const float *kit = job_kit_gradient(job, scale);
    double *got = given_got_all(&job->windows.given, NAME_GRADIENT, w), kit_error = 0, error = 0;
    for (size_t i = 0; i < job->windows.given.P; i++) {
        kit_error += pow((double)kit[i] - job->gradient[i], 2);
        error += pow(got[i] - job->gradient[i], 2);
    }
    if (!(error <= 9 * kit_error)) {
        check_fail(job->windows.given.check,
                   "all gradients together are %.1f times as far from those of a float model as "
                   "rounding to half explains (3 is allowed)",
                   sqrt(error / kit_error));
    }
}

void job_expect_kept(const Job *job) {
    Check *check = job->windows.given.check;
    const float *loss = check_got(check, "loss", WIRE_F32);
    const uint64_t *tokens = check_got(check, "tokens", WIRE_U64);
    if (!check_compared(check, loss[1] == loss[0] && tokens[1] == tokens[0],
                        "the report had a loss of %g and %llu tokens before mixed_update(), and "
                        "has %g and %llu after it",
                        (double)loss[0], (unsigned long long)tokens[0], (double)loss[1],
                        (unsigned long long)tokens[1])) {
        check_fail(check, "mixed_update() writes norm, rate and skipped of the report: loss and "
                          "tokens are its caller's, and the loss was never scaled");
    }
}

void job_expect_report(const Job *job) {
    double norm[MIXED_WINDOWS], wrong[MIXED_WINDOWS], after[MIXED_WINDOWS], rate[MIXED_WINDOWS];
    double again[MIXED_WINDOWS];
    double none[MIXED_WINDOWS] = {0};
    size_t n = (size_t)job->windows.stop;
    for (int w = 0; w < job->windows.stop; w++) {
        norm[w] = job->norm;
        wrong[w] = job->norm * (double)job->window[w].scale;
        again[w] = job->norm / (double)job->window[w].scale;
        after[w] = (double)job->windows.given.max_norm;
        rate[w] = given_rate(&job->windows.given, w);
    }
    Suspect norms[] = {
        {"this is the norm of the scaled gradients: unscale first", wrong},
        {"this is the norm divided by the scale: the gradients are unscaled already", again},
        {"this is the norm after clipping; optimizer_clip() returns the one before", after},
        {"report->grad_norm is not set", none}};
    Suspect rates[] = {{"report->learning_rate is not set", none}};
    check_close(job->windows.given.check, "grad_norm", norm, n, tolerance_of_model(F16), norms, 4);
    /* The rate may be far below what a tolerance of sizes near 1 lets pass. */
    check_close(job->windows.given.check, "learning_rate", rate, n, (Tolerance){1e-5, 0, 1e-5},
                rates, 1);
    job_expect_kept(job);
}

/* ---- numbers that are not finite ------------------------------------------------------------- */

static const char *const bad_name[] = {"nothing", "+inf", "-inf", "NaN"};

static const float *job_states(const Job *job, int w) {
    char name[WIRE_NAME];
    return check_got(job->windows.given.check, op_name(name, NAME_STATES, w), WIRE_F32);
}

const char *job_changed(const Job *job, int a, int b) {
    static const char *const kind[] = {"weights", "masters", "m", "v"};
    for (size_t k = 0; k < 4; k++) {
        if (memcmp(job_states(job, a) + k * job->windows.given.P,
                   job_states(job, b) + k * job->windows.given.P,
                   job->windows.given.P * sizeof(float)) != 0) {
            return kind[k];
        }
    }
    return NULL;
}

bool job_gradients_left(const Job *job, int w) {
    const float *gradients = job_states(job, w) + 4 * job->windows.given.P;
    for (size_t i = 0; i < job->windows.given.P; i++) {
        if (!(gradients[i] == 0)) {
            return true;
        }
    }
    return false;
}

static float job_reported(const Job *job, const char *what, int w) {
    return ((const float *)check_got(job->windows.given.check, what, WIRE_F32))[w];
}

/* The mistake in a window that had a bad number, or NULL. `before` is the good one before. */
static const char *job_wrong_with_bad(const Job *job, int w, int before) {
    static char text[200];
    const char *what = job_changed(job, w, before);
    if (job_traced(job, w, SKIPPED) == 0 && job_traced(job, w, STEPPED) != 0) {
        return "was not noticed, and the step was taken";
    }
    if (job_traced(job, w, STEPPED) != 0) {
        return "was noticed, but optimizer_step() was called anyway";
    }
    if (what != NULL) {
        snprintf(text, sizeof text, "has changed the %s: a skipped step leaves all as it was",
                 what);
        return text;
    }
    if (job_traced(job, w, SKIPPED) != 1) {
        return "kept the step from being taken, but report->skipped is not set";
    }
    if (!(job_reported(job, "learning_rate", w) > 0)) {
        return "skipped the step, but report->learning_rate is not set: it is reported either way";
    }
    if (isfinite(job_reported(job, "grad_norm", w))) {
        return "skipped the step, but report->grad_norm is not set: it is reported either way, and "
               "is inf or NaN here";
    }
    if (job_traced(job, w, T_STEPS) != job_traced(job, before, T_STEPS)) {
        return job_traced(job, w, T_STEPS) > job_traced(job, before, T_STEPS)
                   ? "was a step for the optimizer's t"
                   : "has set the optimizer's t back: it counts the steps that are taken";
    }
    if (job_traced(job, w, TICKS) != job_traced(job, before, TICKS)) {
        return "was a tick of the schedule: mixed_update() leaves that to its caller";
    }
    if (job_gradients_left(job, w)) {
        return "is still in the gradients when the window ends: zero them after a skipped step too "
               "(0 * NaN is NaN)";
    }
    bool dynamic = job->windows.given.config.precision == F16;
    if (!dynamic && job_traced(job, w, SCALE) != (uint64_t)job->scaler.scale) {
        return "has changed bf16's scale: where `dynamic` is not set, scaler_update() is not "
               "called";
    }
    uint64_t lowered =
        ((const uint64_t *)check_got(job->windows.given.check, "lowered", WIRE_U64))[w];
    if (dynamic && job_traced(job, w, SCALE) != lowered) {
        snprintf(
            text, sizeof text,
            "left a scale of %llu, and your scaler_update() makes %llu of it: it is called once "
            "in each window",
            (unsigned long long)job_traced(job, w, SCALE), (unsigned long long)lowered);
        return text;
    }
    return NULL;
}

void job_expect_bad_skipped(const Job *job, int w, int before) {
    const MixedWindow *window = &job->window[w];
    const Param *param = &job->windows.given.reference->params[window->param];
    const char *wrong = job_wrong_with_bad(job, w, before);
    char name[WIRE_NAME];
    if (wrong != NULL) {
        check_fail(job->windows.given.check,
                   "%s in the gradient of %s, after micro-batch %d of 3, %s", bad_name[window->bad],
                   param_scope(name, param), window->micro + 1, wrong);
    } else {
        check_good(job->windows.given.check);
    }
}

void job_expect_good_taken(const Job *job, int w, int before) {
    if (job_traced(job, w, SKIPPED) != 0 || job_traced(job, w, STEPPED) != 1) {
        check_fail(job->windows.given.check,
                   "window %d had finite gradients, but its step was skipped (or taken "
                   "more than once)",
                   w + 1);
    } else if (before >= 0 && job_changed(job, w, before) == NULL) {
        check_fail(job->windows.given.check, "nothing was learned from window %d", w + 1);
    } else if (job_gradients_left(job, w)) {
        check_fail(job->windows.given.check,
                   "gradients are left when window %d ends: model_zero_grad()", w + 1);
    }
}

/* ---- a second trainer ------------------------------------------------------------------------ */

static const char *const apart_sentence[APARTS] = {
    [APART_SHARE] = "mixed_scale() does not take the scale that it is given: is one kept from an "
                    "earlier call?",
    [APART_FIXED] = "mixed_scale() leaves its scale out, although `dynamic` says no more than "
                    "whether it changes",
    [APART_TAKEN] = "the step is not taken, although all gradients are finite",
    [APART_GRADIENTS] = "the optimizer does not see its gradients, unscaled by its own scale",
    [APART_WEIGHTS] = "its weights are not its masters, rounded",
    [APART_ZERO] = "its gradients are not zero after the window",
    [APART_STAYS] =
        "its scaler has changed, although `dynamic` is not set: that alone says whether "
        "scaler_update() is called, and not the precision",
    [APART_BAD] = "a NaN in the last gradient is not noticed",
    [APART_SKIPPED] = "a NaN in the last gradient is noticed, and optimizer_step() is called even "
                      "so",
    [APART_UNWRITTEN] = "a step is skipped, and the masters are written into the weights even so: "
                        "they have not changed",
    [APART_CLEAN] = "its gradients are not zero after a skipped window",
    [APART_AGAIN] = "after a skipped window the next step is not taken, although all gradients are "
                    "finite",
    [APART_GROWS] = "`dynamic` is set and the interval is 1, and a good window does not double "
                    "the scale: is scaler_update() right, and called once?",
    [APART_BEYOND] =
        "at a scale of 2^40 mixed_scale() or what the optimizer sees is wrong: a scale "
        "is a float, and larger than whole numbers and halves go",
    [APART_BELOW] =
        "at a scale of 1/2 mixed_scale() or what the optimizer sees is wrong: a scale is "
        "a float, and falls below 1 where the floor lets it",
};

void job_expect_apart(const Job *job) {
    Check *check = job->windows.given.check;
    if (!check_run(check, "apart", SECONDS)) {
        return;
    }
    const uint64_t *got = check_got(check, "apart", WIRE_U64);
    for (int i = 0; i < APARTS; i++) {
        if (got[i] != 1) {
            check_fail(check, "of a second trainer, whose model has adapters: %s",
                       apart_sentence[i]);
            return;
        }
    }
    check_good(check);
}

/* ---- masters --------------------------------------------------------------------------------- */

/* (P) as half can hold it */
static double *job_halves(const Job *job, const double *values) {
    double *to = check_doubles(job->windows.given.check, job->windows.given.P);
    for (size_t i = 0; i < job->windows.given.P; i++) {
        to[i] = (double)precision_round(job->windows.given.config.precision, (float)values[i]);
    }
    return to;
}

/* (P) the masters that came back, where they are such halves: at a border between two neighbours
   the last bit of an update decides. The nearest halves elsewhere. */
static double *job_halves_as_got(const Job *job, int w, const double *master, Tolerance tolerance) {
    Precision precision = job->windows.given.config.precision;
    double *got = given_got_all(&job->windows.given, NAME_MASTER, w);
    for (size_t i = 0; i < job->windows.given.P; i++) {
        double near = tolerance.relative * fabs(master[i]) + tolerance.scaled;
        bool half = got[i] >= (double)precision_round(precision, (float)(master[i] - near)) &&
                    got[i] <= (double)precision_round(precision, (float)(master[i] + near)) &&
                    got[i] == (double)precision_round(precision, (float)got[i]);
        got[i] = half ? got[i] : (double)precision_round(precision, (float)master[i]);
    }
    return got;
}

/* Whether the caller's tick, where a step was taken, is the only one. */
static bool job_expect_ticks(const Job *job) {
    for (int w = 0; w < job->windows.stop; w++) {
        uint64_t before = w > 0 ? job_traced(job, w - 1, TICKS) : 0,
                 ticks = job_traced(job, w, TICKS);
        uint64_t right = before + (job_traced(job, w, SKIPPED) == 0);
        if (!check_compared(job->windows.given.check, ticks == right,
                            "the schedule is at step %llu after window %d, should be %llu: "
                            "mixed_update() leaves the tick to its caller",
                            (unsigned long long)ticks, w + 1, (unsigned long long)right)) {
            return false;
        }
    }
    return true;
}

void job_expect_updates(Job *job) {
    const Given *given = &job->windows.given;
    if (!job_expect_ticks(job)) {
        return;
    }
    const float *start = job_masters(job);
    double *master = check_doubles(given->check, given->P);
    double *weights = windows_weights(&job->windows);
    for (size_t i = 0; i < given->P; i++) {
        master[i] = (double)start[i];
    }
    for (int w = 0; w < job->windows.stop && !window_is_bad(&job->window[w]) && job_stepped(job, w);
         w++) {
        Tolerance tolerance = tolerance_of_op(F32, 1), exactly = {0, 0, 0};
        Suspect other_rate = windows_other_rate(&job->windows, w, NAME_MASTER, master);
        master = windows_updated(&job->windows, w, master, given_rate(given, w), w + 1, true);
        Suspect masters[] = {
            {"the masters are rounded as well: weights come from masters, never "
             "masters from weights",
             job_halves_as_got(job, w, master, tolerance)},
            {"the masters are the weights of before: cast_from_float() goes from a "
             "master to its weight, never back",
             weights},
            other_rate};
        Suspect stale[] = {{"the weights are those of the previous window: after optimizer_step(), "
                            "write the masters, rounded, into the weights",
                            weights}};
        windows_expect_moments(&job->windows, w, NULL, 0);
        if (!given_expect(given, NAME_MASTER, w, master, tolerance, masters, 3)) {
            return;
        }
        master = given_got_all(given, NAME_MASTER, w);
        if (!given_expect(given, NAME_WEIGHT, w, job_halves(job, master), exactly, stale, 1)) {
            return;
        }
        weights = given_got_all(given, NAME_WEIGHT, w);
    }
}
