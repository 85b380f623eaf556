#include "grader/labs/01_loop/loop.h"

#include <math.h>
#include <string.h>

#include "grader/labs/01_loop/trace.h"

const char LOOP_RATE_NEXT[] =
    "the rate is that of the next step: ask schedule_rate() before schedule_tick()";
const char LOOP_RATE_LARGEST[] =
    "the rate is the largest one: ask schedule_rate() for that of this step";

/* ---- what is given --------------------------------------------------------------------------- */

Batch loop_batch(Check *check, const ModelConfig *config) {
    int B = check_int(check, 2, 4), T = check_int(check, 8, config->T);
    Batch batch = batch_ragged(check, config->V, B, T, 2);
    batch_cut_row(check, &batch, 0, T - 1); /* B times the longest row is not B * T */
    return batch;
}

Windows loop_new(Check *check, int steps, float dropout) {
    ModelConfig config = {.V = 256, .T = 12, .L = 2, .NH = 2, .C = 16, .dropout = dropout};
    Windows loop = windows_new(check, config, "step", 1);
    for (int i = 0; i < steps; i++) {
        loop.given.batch[i] = loop_batch(check, &config);
        /* 0 is a byte like others, and no sign of padding */
        ((int32_t *)loop.given.batch[i].tokens)[0] = 0;
        ((int32_t *)loop.given.batch[i].targets)[0] = 0;
    }
    loop.given.batches = steps;
    return loop;
}

bool loop_run(Windows *loop, int wants, LoopEnough enough) {
    Check *check = loop->given.check;
    loop->option[OPTION_ENOUGH] = (int32_t)enough;
    windows_give(loop, wants);
    windows_want_reports(loop);
    check_want(check, "settings", WIRE_F32, (size_t)windows_count(loop) * LOOP_SETTINGS);
    check_want_picture(check);
    return check_run(check, "steps", SECONDS);
}

/* ---- comparing ------------------------------------------------------------------------------- */

static bool loop_stepped(const Windows *loop, int step) {
    return windows_stepped(loop, step,
                           "step %d returned, but optimizer_step() was not called in it", step + 1);
}

double loop_norm(Windows *loop, const Window *step) {
    return norm_of(window_gradient(loop, step, weight_right, 0), loop->given.P);
}

/* (P) scale * gradient + more, then clipped. */
static double *loop_clipped(const Windows *loop, double scale, const double *gradient,
                            const double *more, double limit) {
    double *values = windows_scaled(loop, scale, gradient, more);
    given_clip(&loop->given, values, limit);
    return values;
}

const uint64_t *loop_trace(const Windows *loop, int step) {
    const uint64_t *trace = check_got(loop->given.check, "trace", WIRE_U64);
    return trace + (size_t)step * TRACE_LENGTH;
}

/* The gradients of a step where the one before has left its own: with those, or right, if they were
   cleared when it began. windows_expect_zero() sees the same mistake, and says the same words. */
static const double *loop_not_zeroed(const Windows *loop, const Window *step,
                                     const double *gradient) {
    const Given *given = &loop->given;
    double limit = (double)given->max_norm, with_off = 0, right_off = 0;
    const double *got = given_got_all(given, NAME_GRADIENT, step->number);
    const double *before = given_got_all(given, NAME_GRADIENT, step->number - 1);
    const double *with = loop_clipped(loop, 1, gradient, before, limit);
    const double *right = window_gradient(loop, step, weight_right, limit);
    for (size_t i = 0; i < given->P; i++) {
        with_off += fabs(got[i] - with[i]);
        right_off += fabs(got[i] - right[i]);
    }
    return with_off < right_off ? with : right;
}

/* The norm before clipping, as the submission reports it. */
static float loop_told_norm(const Windows *loop, const Window *step) {
    return ((const float *)check_got(loop->given.check, "grad_norm", WIRE_F32))[step->number];
}

/* (P) the right gradients, clipped by less than all of them: each tensor to the limit by itself, or
   each of its numbers. */
static double *loop_clipped_apart(const Windows *loop, const double *gradient, double limit,
                                  bool numbers) {
    const Reference *reference = loop->given.reference;
    double *values = windows_scaled(loop, 1, gradient, NULL), *value = values;
    for (int i = 0; i < reference->param_count; i++) {
        size_t count = reference->params[i].count;
        double factor = reference_clip(norm_of(value, count), limit);
        for (size_t k = 0; k < count; k++) {
            value[k] = !numbers ? factor * value[k] : fmin(fmax(value[k], -limit), limit);
        }
        value += count;
    }
    return values;
}

/* The largest of (P) values, without its sign. */
static double loop_largest(const Windows *loop, const double *values) {
    double largest = 0;
    for (size_t i = 0; i < loop->given.P; i++) {
        largest = fmax(largest, fabs(values[i]));
    }
    return largest;
}

/* The targets of a step's batch that are 0. */
static double loop_zeros(const Windows *loop, const Window *step) {
    const Batch *batch = &loop->given.batch[step->first];
    double zeros = 0;
    for (int i = 0; i < batch->B * batch->T; i++) {
        zeros += batch->targets[i] == 0;
    }
    return zeros;
}

/* Small gradients scaled up, or down to 1; the step before in this one. `suspects` has room. */
static int loop_suspects(const Windows *loop, const Window *step, Suspect *suspects) {
    const Given *given = &loop->given;
    double limit = (double)given->max_norm;
    const double *gradient = window_gradient(loop, step, weight_right, 0);
    double norm = norm_of(gradient, given->P);
    const Suspect list[] = {
        {"the gradient is that of the sum: model_backward() wants 1 / valid",
         window_gradient(loop, step, weight_one, limit)},
        {"the loss is divided by B * T: targets that are masked or padding take no part, divide by "
         "batch->valid",
         window_gradient(loop, step, weight_by_padded, limit)},
        {"the gradient is divided by the valid targets twice",
         window_gradient(loop, step, weight_divided_twice, limit)},
        {"the loss is divided by the number of sequences: each valid target counts 1 / valid",
         window_gradient(loop, step, weight_by_rows, limit)},
        {"the gradients are not clipped when the optimizer steps: optimizer_clip(), with "
         "trainer->max_grad_norm, comes between model_backward() and optimizer_step()",
         gradient},
        {"the gradients are clipped before they are divided by the valid targets: first they are "
         "those of the mean",
         windows_scaled(loop, weight_right(step, 0), window_gradient(loop, step, weight_one, limit),
                        NULL)},
        {"the gradients are clipped to 1: the limit is trainer->max_grad_norm",
         window_gradient(loop, step, weight_right, 1)},
    };
    int count = sizeof list / sizeof *list;
    memcpy(suspects, list, sizeof list);
    /* One with the limit's norm may also have been too large, and clipped: its own norm says. */
    if (norm > 0 && limit > 0 && !((double)loop_told_norm(loop, step) > limit)) {
        suspects[count++] =
            (Suspect){"small gradients are scaled up: clipping only ever makes them smaller",
                      windows_scaled(loop, limit / norm, gradient, NULL)};
    }
    if (limit > 0) {
        suspects[count++] = (Suspect){"each tensor is clipped by itself: the norm is that of the "
                                      "gradients of all tensors together",
                                      loop_clipped_apart(loop, gradient, limit, false)};
    }
    if (limit > 0 && loop_largest(loop, gradient) > limit) { /* else nothing is cut */
        suspects[count++] =
            (Suspect){"each number is cut to trainer->max_grad_norm by itself: all gradients are "
                      "scaled by one factor, so that their norm is the limit",
                      loop_clipped_apart(loop, gradient, limit, true)};
    }
    if (step->valid > 1 && loop_zeros(loop, step) > 0) {
        double share = weight_over(1, step->valid - loop_zeros(loop, step));
        suspects[count++] = (Suspect){
            "a target of 0 is not counted: it is a byte like others, and only IGNORE_INDEX is none",
            loop_clipped(loop, share, window_gradient(loop, step, weight_one, 0), NULL, limit)};
    }
    const char *none = loop_no_gradients(loop_trace(loop, step->number), given->max_norm);
    if (none != NULL) {
        suspects[count++] = (Suspect){none, check_doubles(given->check, given->P)};
    }
    if (step->valid == 1) {
        suspects[count++] =
            (Suspect){"a batch with one valid target is taken for one without: its 1 / valid is 1",
                      check_doubles(given->check, given->P)};
    }
    if (step->number > 0) {
        suspects[count++] =
            (Suspect){"the gradients are still there when the step ends: model_zero_grad()",
                      loop_not_zeroed(loop, step, gradient)};
    }
    return count;
}

void loop_expect_tick(const Windows *loop, const Window *step) {
    const uint64_t *ticks = check_got(loop->given.check, "schedule.step", WIRE_U64);
    int i = step->number;
    uint64_t before = i > 0 ? ticks[i - 1] : 0;
    if (ticks[i] == before + 1) {
        return;
    }
    if (ticks[i] == before) {
        check_fail(loop->given.check,
                   "trainer->schedule has not ticked in step %d%s: one tick for each "
                   "step",
                   i + 1,
                   step->valid > 0 ? ""
                                   : ", whose batch has no "
                                     "valid target");
    } else {
        check_fail(loop->given.check, "the schedule ticks %lld times in step %d: once is right",
                   (long long)(ticks[i] - before), i + 1);
    }
}

void loop_expect_settings(const Windows *loop) {
    const Given *given = &loop->given;
    const float *got = check_got(given->check, "settings", WIRE_F32);
    const float want[LOOP_SETTINGS] = {given->max_norm, given->schedule.learning_rate,
                                       (float)given->schedule.warmup_steps,
                                       (float)given->schedule.max_steps};
    static const char *const name[LOOP_SETTINGS] = {
        "trainer->max_grad_norm", "trainer->schedule.learning_rate",
        "trainer->schedule.warmup_steps", "trainer->schedule.max_steps"};
    for (int i = 0; i < given->batches * LOOP_SETTINGS; i++) {
        int k = i % LOOP_SETTINGS;
        if (!check_compared(given->check, got[i] == want[k], "%s is %g after step %d, and was %g",
                            name[k], (double)got[i], i / LOOP_SETTINGS + 1, (double)want[k])) {
            check_fail(given->check, "a step changes a setting of the trainer that it only reads");
            return;
        }
    }
}

void loop_expect_gradients(const Windows *loop, const Window *step) {
    const Given *given = &loop->given;
    Suspect suspects[MOST_SUSPECTS];
    int count = loop_suspects(loop, step, suspects);
    if (!loop_stepped(loop, step->number)) {
        return;
    }
    if (!(step->valid > 0) &&
        values_have_nan(given_got_all(given, NAME_GRADIENT, step->number), given->P)) {
        check_fail(given->check, "likely: 1 / valid where valid is 0: a batch without any valid "
                                 "target has gradient 0");
    }
    given_expect(given, NAME_GRADIENT, step->number,
                 window_gradient(loop, step, weight_right, (double)given->max_norm),
                 tolerance_of_model(F32), suspects, count);
}

/* (P) first moments, had the same gradients come once more. */
static double *loop_twice_m(const Windows *loop, int step) {
    double beta = (double)loop->given.adamw.beta1;
    double *gradient = given_got_all(&loop->given, NAME_GRADIENT, step);
    return windows_scaled(loop, beta, loop->m, windows_scaled(loop, 1 - beta, gradient, NULL));
}

void loop_expect_update(Windows *loop, const Window *step) {
    int i = step->number;
    if (!loop_stepped(loop, i)) {
        return;
    }
    const Given *given = &loop->given;
    const double *before = windows_weights(loop);
    double next = given_rate(given, i + 1), largest = (double)given->schedule.learning_rate;
    Suspect suspects[] = {
        {LOOP_RATE_NEXT, windows_updated(loop, i, before, next, i + 1, false)},
        {LOOP_RATE_LARGEST, windows_updated(loop, i, before, largest, i + 1, false)},
        {"the weights did not change: the rate was 0, or optimizer_step() did not see gradients",
         before},
        windows_other_rate(loop, i, NAME_WEIGHT, before),
    };
    double *want = windows_updated(loop, i, before, given_rate(given, i), i + 1, true);
    Suspect again = {"optimizer_step() ran twice in this step", loop_twice_m(loop, i)};
    if (windows_expect_moments(loop, i, &again, 1)) {
        given_expect(given, NAME_WEIGHT, i, want, tolerance_of_op(F32, 1), suspects, 4);
    }
}
