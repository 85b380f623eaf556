/**
 * @file 01_run.h
 * @brief Judge of lab 01: what a check gives to the loop, what is right, and how what comes back is
 * compared.
 * @ingroup grader
 */
#ifndef GRADER_JUDGES_01_RUN_H
#define GRADER_JUDGES_01_RUN_H

#include "grader/judges/training.h"
#include "grader/probes/01_loop.h"
#include "grader/probes/watch.h"

/* What a check gives, a batch for each step, and where its steps have come to. */
typedef struct Loop {
    Given given;
    double *m, *v;     /* (P) moments of the steps so far */
    double *gradient;  /* (P) right mean gradient of the present step, before clipping */
    double loss, norm; /* of the present step */
} Loop;

/* ---- what is given --------------------------------------------------------------------------- */

static inline Batch random_batch(Check *check, const ModelConfig *config) {
    int B = check_int(check, 2, 4), T = check_int(check, 6, config->T);
    return ragged_batch(check, config->V, B, T, 2);
}

/* A small model, no clipping. */
static inline Loop loop_new(Check *check, int steps, float dropout) {
    ModelConfig config = {.V = 256, .T = 12, .L = 2, .NH = 2, .C = 16, .dropout = dropout};
    Loop loop = {.given = given_new(check, config, "step")};
    for (int i = 0; i < steps; i++) {
        loop.given.batch[i] = random_batch(check, &config);
    }
    loop.given.batches = steps;
    loop.m = check_doubles(check, loop.given.P);
    loop.v = check_doubles(check, loop.given.P);
    return loop;
}

static inline bool run(const Loop *loop, int wants, LoopEnough enough) {
    Check *check = loop->given.check;
    int batches = loop->given.batches;
    size_t steps = (size_t)batches;
    int32_t flags[] = {wants, (int32_t)enough, check_on_gpu()};
    give(&loop->given);
    check_give(check, "wants", WIRE_I32, &flags[0], 1);
    check_give(check, "enough", WIRE_I32, &flags[1], 1);
    check_give(check, "gpu", WIRE_I32, &flags[2], 1);
    check_want(check, "loss", WIRE_F32, steps);
    check_want(check, "grad_norm", WIRE_F32, steps);
    check_want(check, "learning_rate", WIRE_F32, steps);
    check_want(check, "tokens", WIRE_U64, steps);
    check_want(check, "schedule.step", WIRE_U64, steps);
    check_want(check, "trace", WIRE_U64, steps * TRACE_LENGTH);
    check_want_picture(check);
    if (wants & WANT_GRADIENTS) {
        want_params(&loop->given, NAME_GRADIENT, batches);
    }
    if (wants & WANT_UPDATE) {
        want_params(&loop->given, NAME_WEIGHT, batches);
        want_params(&loop->given, NAME_M, batches);
        want_params(&loop->given, NAME_V, batches);
    }
    if (wants & WANT_LEFT) {
        want_params(&loop->given, NAME_LEFT, batches);
    }
    return check_run(check, "steps", SECONDS);
}

/* ---- what is right --------------------------------------------------------------------------- */

/* Gradient, loss and norm of a step, at the weights that the reference has. */
static inline void work_out(Loop *loop, int step) {
    const Batch *batch = &loop->given.batch[step];
    double share = batch->valid > 0 ? 1.0 / batch->valid : 0;
    reference_zero_grad(loop->given.reference);
    loop->loss = share * pass(&loop->given, batch, share);
    loop->gradient = end_to_end(&loop->given, loop->given.reference->grad);
    loop->norm = norm_of(loop->gradient, loop->given.P);
}

/* (P) scale * gradient + more, then clipped; `more` may be NULL. */
static inline double *clipped(const Loop *loop, double scale, const double *more, double max_norm) {
    double *values = check_doubles(loop->given.check, loop->given.P);
    for (size_t i = 0; i < loop->given.P; i++) {
        values[i] = scale * loop->gradient[i] + (more != NULL ? more[i] : 0);
    }
    clip(&loop->given, values, max_norm);
    return values;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static inline bool stepped(const Loop *loop, int step) {
    bool stepped = came_back(&loop->given, NAME_GRADIENT, step);
    if (!stepped) {
        check_fail(loop->given.check, "step %d returned, but optimizer_step() was not called in it",
                   step + 1);
    }
    return stepped;
}

static inline void expect_gradients(const Loop *loop, int step) {
    const Batch *batch = &loop->given.batch[step];
    double N = batch->B * batch->T, valid = batch->valid, limit = (double)loop->given.max_norm;
    Suspect suspects[] = {
        {"small gradients are scaled up: clipping only ever makes them smaller", NULL},
        {"the gradient is that of the sum: model_backward() wants 1 / valid", NULL},
        {"the loss is divided by B * T: targets that are masked or padding take no part, divide by "
         "batch->valid",
         NULL},
        {"the gradient is divided by the valid targets twice", NULL},
        {"the loss is divided by the number of sequences: each valid target counts 1 / valid",
         NULL},
        {"the gradients are not clipped when the optimizer steps: optimizer_clip() is missing, or "
         "comes after optimizer_step()",
         NULL},
        {"the gradients are clipped to 1: the limit is trainer->max_grad_norm", NULL},
        {"all gradients are zero when the optimizer steps: model_zero_grad() comes too early, or "
         "model_backward() is missing",
         NULL},
        {"the gradient of the step before is still in: gradients are zero when a step ends", NULL},
    };
    int count = sizeof suspects / sizeof *suspects;
    suspects[0].values =
        clipped(loop, loop->norm > 0 && limit > 0 ? limit / loop->norm : 1, NULL, 0);
    suspects[1].values = clipped(loop, valid, NULL, limit);
    suspects[2].values = clipped(loop, valid / N, NULL, limit);
    suspects[3].values = clipped(loop, valid > 0 ? 1 / valid : 0, NULL, limit);
    suspects[4].values = clipped(loop, valid / batch->B, NULL, limit);
    suspects[5].values = clipped(loop, 1, NULL, 0);
    suspects[6].values = clipped(loop, 1, NULL, 1);
    suspects[7].values = check_doubles(loop->given.check, loop->given.P);
    if (step > 0) {
        suspects[8].values =
            clipped(loop, 1, got_all(&loop->given, NAME_GRADIENT, step - 1), limit);
    } else {
        count--;
    }
    if (stepped(loop, step)) {
        if (batch->valid == 0 &&
            has_nan(got_all(&loop->given, NAME_GRADIENT, step), loop->given.P)) {
            check_fail(loop->given.check,
                       "likely: 1 / valid where valid is 0: a batch without any valid "
                       "target has gradient 0");
        }
        expect_all(&loop->given, NAME_GRADIENT, step, clipped(loop, 1, NULL, limit),
                   tolerance_of_model(F32), suspects, count);
    }
}

/* (P) weights after an update by the gradients that came back; moments as they were before it, or
   with `keep` as they are then. */
static inline double *updated(const Loop *loop, int step, double rate, bool keep) {
    const Given *given = &loop->given;
    size_t bytes = given->P * sizeof(double);
    double *weights = end_to_end(given, given->reference->weight);
    double *m = check_doubles(given->check, given->P), *v = check_doubles(given->check, given->P);
    memcpy(m, loop->m, bytes);
    memcpy(v, loop->v, bytes);
    adamw_all(given, weights, m, v, got_all(given, NAME_GRADIENT, step), rate, step + 1);
    if (keep) {
        memcpy(loop->m, m, bytes);
        memcpy(loop->v, v, bytes);
    }
    return weights;
}

/* (P) first moments, had the same gradients come once more. */
static inline double *twice_m(const Loop *loop, int step) {
    double *m = got_all(&loop->given, NAME_GRADIENT, step), beta = (double)loop->given.adamw.beta1;
    for (size_t i = 0; i < loop->given.P; i++) {
        m[i] = beta * loop->m[i] + (1 - beta) * m[i];
    }
    return m;
}

static inline void expect_update(Loop *loop, int step) {
    if (!stepped(loop, step)) {
        return;
    }
    double base = (double)loop->given.schedule.learning_rate;
    double *none = updated(loop, step, 0, false);
    Suspect suspects[] = {
        {"the update used the rate of the next step: schedule_tick() comes after "
         "optimizer_step()",
         updated(loop, step, rate_of(&loop->given, step + 1), false)},
        {"the update used the largest rate: ask schedule_rate() for that of this step",
         updated(loop, step, base, false)},
        {"the weights did not change: the rate was 0, or optimizer_step() did not see gradients",
         none},
        {OTHER_RATE,
         at_own_rate(&loop->given, NAME_WEIGHT, step, none, updated(loop, step, 1, false))},
    };
    double *want = updated(loop, step, rate_of(&loop->given, step), true);
    Tolerance tolerance = tolerance_of_op(F32, 1);
    Suspect again = {"optimizer_step() ran twice in this step", twice_m(loop, step)};
    if (expect_all(&loop->given, NAME_M, step, loop->m, tolerance, &again, 1) &&
        expect_all(&loop->given, NAME_V, step, loop->v, tolerance, NULL, 0)) {
        expect_all(&loop->given, NAME_WEIGHT, step, want, tolerance, suspects, 4);
    }
}

static inline void expect_zero(const Loop *loop, int step) {
    Suspect left = {"the gradients are still there when the step ends: model_zero_grad()",
                    got_all(&loop->given, NAME_GRADIENT, step)};
    expect_all(&loop->given, NAME_LEFT, step, check_doubles(loop->given.check, loop->given.P),
               tolerance_of_model(F32), &left, 1);
}

static inline void loop_free(Loop *loop) {
    reference_free(loop->given.reference);
}

#endif
