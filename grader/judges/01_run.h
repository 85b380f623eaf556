/**
 * @file 01_run.h
 * @brief Judge of lab 01: what a check gives to the loop, what is right, and how what comes back is
 * compared.
 * @ingroup grader
 */
#ifndef GRADER_JUDGES_01_RUN_H
#define GRADER_JUDGES_01_RUN_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/optimizer.h"
#include "grader/check.h"
#include "grader/probes/01_loop.h"
#include "grader/reference.h"
#include "kernels/half.h"

enum { MOST_STEPS = 8, SECONDS = 20 };

/* What a check gives, and where its steps have come to. */
typedef struct Loop {
    Check *check;
    ModelConfig config;
    int steps;
    Batch batch[MOST_STEPS];
    AdamW adamw;
    Schedule schedule;
    float max_norm;
    uint64_t seed;
    size_t P;             /* numbers in all parameters: those below lie end to end */
    Reference *reference; /* at the weights where the present step began */
    double *m, *v;        /* (P) moments of the steps so far */
    float *start;         /* (P) weights that are given */
    double *gradient;     /* (P) right mean gradient of the present step, before clipping */
    double loss, norm;    /* of the present step */
    uint64_t drawn;       /* counters of the dropout stream */
} Loop;

/* ---- what is given --------------------------------------------------------------------------- */

/* Rows of different lengths, some targets masked: as data.h makes of documents. */
static inline Batch random_batch(Check *check, const ModelConfig *config, bool empty) {
    Batch batch = {.B = check_int(check, 2, 4), .T = check_int(check, 6, config->T)};
    int N = batch.B * batch.T;
    /* Room that is freed with the check. */
    int32_t *tokens = (int32_t *)check_doubles(check, (size_t)N);
    int32_t *targets = (int32_t *)check_doubles(check, (size_t)N);
    for (int i = 0; i < N; i++) {
        int b = i / batch.T, t = i % batch.T, length = batch.T - 2 * b;
        bool valid = !empty && t < length && (t == 0 || check_int(check, 0, 9) > 0);
        tokens[i] = t < length ? check_int(check, 0, config->V - 1) : 0;
        targets[i] = valid ? check_int(check, 0, config->V - 1) : IGNORE_INDEX;
        batch.valid += valid;
    }
    batch.tokens = tokens;
    batch.targets = targets;
    return batch;
}

/* Scales near 1, everything else near 0, nothing exactly there. */
static inline void random_weights(Loop *loop) {
    const Reference *reference = loop->reference;
    loop->start = check_normal(loop->check, loop->P, 0.1, F32);
    float *weight = loop->start;
    for (int i = 0; i < reference->param_count; i++) {
        for (size_t j = 0; j < reference->params[i].count; j++, weight++) {
            *weight += reference->params[i].init == INIT_ONE ? 1.0f : 0.0f;
        }
    }
}

static inline void set_weights(Loop *loop, const float *weights) {
    for (int i = 0; i < loop->reference->param_count; i++) {
        for (size_t j = 0; j < loop->reference->params[i].count; j++) {
            loop->reference->weight[i][j] = (double)*weights++;
        }
    }
}

/* A small model, no clipping, the first step in a warm-up of 4. */
static inline Loop loop_new(Check *check, int steps, float dropout) {
    Loop loop = {.check = check,
                 .config = {.V = 256, .T = 12, .L = 2, .NH = 2, .C = 16, .dropout = dropout},
                 .steps = steps,
                 .adamw = {.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f, .weight_decay = 0.1f},
                 .schedule = {.learning_rate = 1e-2f, .warmup_steps = 4, .max_steps = 20},
                 .seed = (uint64_t)check_int(check, 1, 1 << 30)};
    for (int i = 0; i < steps; i++) {
        loop.batch[i] = random_batch(check, &loop.config, false);
    }
    loop.reference = reference_new(&loop.config);
    for (int i = 0; i < loop.reference->param_count; i++) {
        loop.P += loop.reference->params[i].count;
    }
    loop.m = check_doubles(check, loop.P);
    loop.v = check_doubles(check, loop.P);
    loop.gradient = check_doubles(check, loop.P);
    random_weights(&loop);
    set_weights(&loop, loop.start);
    return loop;
}

static inline void give_batches(const Loop *loop) {
    int32_t shapes[2 * MOST_STEPS], tokens[MOST_STEPS * 64], targets[MOST_STEPS * 64];
    size_t count = 0;
    for (int i = 0; i < loop->steps; i++) {
        const Batch *batch = &loop->batch[i];
        size_t N = (size_t)batch->B * (size_t)batch->T;
        shapes[2 * i] = batch->B;
        shapes[2 * i + 1] = batch->T;
        CHECK(N <= 64, "a batch of %zu tokens", N);
        memcpy(tokens + count, batch->tokens, N * sizeof *tokens);
        memcpy(targets + count, batch->targets, N * sizeof *targets);
        count += N;
    }
    check_give(loop->check, "shapes", WIRE_I32, shapes, 2 * (size_t)loop->steps);
    check_give(loop->check, "tokens", WIRE_I32, tokens, count);
    check_give(loop->check, "targets", WIRE_I32, targets, count);
}

static inline void want_tensors(const Loop *loop, const char *what) {
    char name[WIRE_NAME];
    for (int step = 0; step < loop->steps; step++) {
        for (int i = 0; i < loop->reference->param_count; i++) {
            const Param *param = &loop->reference->params[i];
            check_want(loop->check, loop_name(name, what, param, step), WIRE_F32, param->count);
        }
    }
}

static inline bool run(const Loop *loop, int wants, LoopEnough enough) {
    Check *check = loop->check;
    const AdamW *a = &loop->adamw;
    const Schedule *s = &loop->schedule;
    size_t steps = (size_t)loop->steps;
    int32_t flags[] = {wants, (int32_t)enough};
    check_give_config(check, &loop->config);
    give_batches(loop);
    check_give(check, "weights", WIRE_F32, loop->start, loop->P);
    check_give(check, "adamw", WIRE_F32, (float[]){a->beta1, a->beta2, a->epsilon, a->weight_decay},
               4);
    check_give(check, "rate", WIRE_F32, (float[]){s->learning_rate, loop->max_norm}, 2);
    check_give(check, "schedule", WIRE_I32,
               (int32_t[]){(int32_t)s->decay, s->warmup_steps, s->max_steps}, 3);
    check_give(check, "seed", WIRE_U64, &loop->seed, 1);
    check_give(check, "wants", WIRE_I32, &flags[0], 1);
    check_give(check, "enough", WIRE_I32, &flags[1], 1);
    check_want(check, "loss", WIRE_F32, steps);
    check_want(check, "grad_norm", WIRE_F32, steps);
    check_want(check, "learning_rate", WIRE_F32, steps);
    check_want(check, "tokens", WIRE_U64, steps);
    check_want(check, "schedule.step", WIRE_U64, steps);
    check_want(check, "trace", WIRE_U64, steps * TRACE_LENGTH);
    if (wants & WANT_GRADIENTS) {
        want_tensors(loop, NAME_GRADIENT);
    }
    if (wants & WANT_UPDATE) {
        want_tensors(loop, NAME_WEIGHT);
        want_tensors(loop, NAME_M);
        want_tensors(loop, NAME_V);
    }
    if (wants & WANT_LEFT) {
        want_tensors(loop, NAME_LEFT);
    }
    return check_run(check, "steps", SECONDS);
}

/* ---- what is right --------------------------------------------------------------------------- */

/* Gradient, loss and norm of a step, at the weights that the reference has. */
static inline void work_out(Loop *loop, int step) {
    const Batch *batch = &loop->batch[step];
    Reference *reference = loop->reference;
    double share = batch->valid > 0 ? 1.0 / batch->valid : 0;
    reference_zero_grad(reference);
    loop->loss = share * reference_pass(reference, batch, share, loop->seed, loop->drawn);
    loop->drawn += reference_pass_counters(&loop->config, batch->B * batch->T);
    double *to = loop->gradient;
    for (int i = 0; i < reference->param_count; i++) {
        memcpy(to, reference->grad[i], reference->params[i].count * sizeof *to);
        to += reference->params[i].count;
    }
    loop->norm = norm_of(loop->gradient, loop->P);
}

/* (P) scale * gradient + more, then clipped; `more` may be NULL. */
static inline double *clipped(const Loop *loop, double scale, const double *more, double max_norm) {
    double *values = check_doubles(loop->check, loop->P);
    for (size_t i = 0; i < loop->P; i++) {
        values[i] = scale * loop->gradient[i] + (more != NULL ? more[i] : 0);
    }
    double norm = norm_of(values, loop->P);
    double factor = max_norm > 0 && norm > max_norm ? max_norm / (norm + 1e-6) : 1;
    for (size_t i = 0; i < loop->P; i++) {
        values[i] *= factor;
    }
    return values;
}

static const float *got_tensor(const Loop *loop, const char *what, int i, int step) {
    char name[WIRE_NAME];
    const Param *param = &loop->reference->params[i];
    return check_got(loop->check, loop_name(name, what, param, step), WIRE_F32);
}

/* (P) the tensors of that kind that came back. */
static inline double *got_all(const Loop *loop, const char *what, int step) {
    double *values = check_doubles(loop->check, loop->P), *to = values;
    for (int i = 0; i < loop->reference->param_count; i++) {
        const float *got = got_tensor(loop, what, i, step);
        for (size_t j = 0; j < loop->reference->params[i].count; j++) {
            *to++ = (double)got[j];
        }
    }
    return values;
}

/* ---- comparing ------------------------------------------------------------------------------- */

/* Compares all tensors of a kind; suspects are (P) like `want`. */
static inline bool expect_all(const Loop *loop, const char *what, int step, const double *want,
                              Tolerance tolerance, const Suspect *suspects, int count) {
    enum { MOST_SUSPECTS = 12 };
    Suspect part[MOST_SUSPECTS];
    char name[WIRE_NAME];
    size_t first = 0;
    bool right = true;
    CHECK(count <= MOST_SUSPECTS, "%d suspects", count);
    for (int i = 0; i < loop->reference->param_count; i++) {
        const Param *param = &loop->reference->params[i];
        for (int k = 0; k < count; k++) {
            part[k] = (Suspect){suspects[k].sentence, suspects[k].values + first};
        }
        right &= check_close(loop->check, loop_name(name, what, param, step), want + first,
                             param->count, tolerance, part, count);
        first += param->count;
    }
    return right;
}

/* What was never handed back is still as the judge filled it. */
static inline bool stepped(const Loop *loop, int step) {
    bool missing = float_bits(got_tensor(loop, NAME_GRADIENT, 0, step)[0]) == 0xFFFFFFFFu;
    if (missing) {
        check_fail(loop->check, "step %d returned, but optimizer_step() was not called in it",
                   step + 1);
    }
    return !missing;
}

static inline bool has_nan(const double *values, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (isnan(values[i])) {
            return true;
        }
    }
    return false;
}

static inline void expect_gradients(const Loop *loop, int step) {
    const Batch *batch = &loop->batch[step];
    double N = batch->B * batch->T, valid = batch->valid, limit = (double)loop->max_norm;
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
    suspects[7].values = check_doubles(loop->check, loop->P);
    if (step > 0) {
        suspects[8].values = clipped(loop, 1, got_all(loop, NAME_GRADIENT, step - 1), limit);
    } else {
        count--;
    }
    if (stepped(loop, step)) {
        if (batch->valid == 0 && has_nan(got_all(loop, NAME_GRADIENT, step), loop->P)) {
            check_fail(loop->check, "likely: 1 / valid where valid is 0: a batch without any valid "
                                    "target has gradient 0");
        }
        expect_all(loop, NAME_GRADIENT, step, clipped(loop, 1, NULL, limit),
                   tolerance_of_model(F32), suspects, count);
    }
}

/* (P) weights after an update by the gradients that came back; moments as they were before it. */
static inline double *updated(const Loop *loop, int step, double rate, const double *m,
                              const double *v, bool keep_moments) {
    const Reference *reference = loop->reference;
    const AdamW *a = &loop->adamw;
    double *weights = check_doubles(loop->check, loop->P), *w = weights;
    double *gradient = got_all(loop, NAME_GRADIENT, step), *g = gradient;
    double *new_m = check_doubles(loop->check, loop->P);
    double *new_v = check_doubles(loop->check, loop->P);
    memcpy(new_m, m, loop->P * sizeof *m);
    memcpy(new_v, v, loop->P * sizeof *v);
    size_t first = 0;
    for (int i = 0; i < reference->param_count; i++) {
        const Param *param = &reference->params[i];
        double decay = param_is_matrix(param) ? (double)a->weight_decay : 0;
        memcpy(w, reference->weight[i], param->count * sizeof *w);
        reference_adamw(w, new_m + first, new_v + first, g, param->count, rate, (double)a->beta1,
                        (double)a->beta2, (double)a->epsilon, decay, step + 1);
        first += param->count;
        w += param->count;
        g += param->count;
    }
    if (keep_moments) {
        memcpy(loop->m, new_m, loop->P * sizeof *m);
        memcpy(loop->v, new_v, loop->P * sizeof *v);
    }
    return weights;
}

static inline double rate_of(const Loop *loop, int step) {
    Schedule schedule = loop->schedule;
    schedule.step = step;
    return (double)schedule_rate(&schedule);
}

/* (P) first moments, had the same gradients come once more. */
static inline double *twice_m(const Loop *loop, int step) {
    double *m = got_all(loop, NAME_GRADIENT, step), beta = (double)loop->adamw.beta1;
    for (size_t i = 0; i < loop->P; i++) {
        m[i] = beta * loop->m[i] + (1 - beta) * m[i];
    }
    return m;
}

static inline void expect_update(Loop *loop, int step) {
    if (!stepped(loop, step)) {
        return;
    }
    double base = (double)loop->schedule.learning_rate;
    double *none = updated(loop, step, 0, loop->m, loop->v, false);
    Suspect suspects[] = {
        {"the update used the rate of the next step: schedule_tick() comes after "
         "optimizer_step()",
         updated(loop, step, rate_of(loop, step + 1), loop->m, loop->v, false)},
        {"the update used the largest rate: ask schedule_rate() for that of this step",
         updated(loop, step, base, loop->m, loop->v, false)},
        {"the weights did not change: the rate was 0, or optimizer_step() did not see gradients",
         none},
    };
    double *want = updated(loop, step, rate_of(loop, step), loop->m, loop->v, true);
    Tolerance tolerance = tolerance_of_op(F32, 1);
    Suspect again = {"optimizer_step() ran twice in this step", twice_m(loop, step)};
    if (expect_all(loop, NAME_M, step, loop->m, tolerance, &again, 1) &&
        expect_all(loop, NAME_V, step, loop->v, tolerance, NULL, 0)) {
        expect_all(loop, NAME_WEIGHT, step, want, tolerance, suspects, 3);
    }
}

static inline void expect_zero(const Loop *loop, int step) {
    Suspect left = {"the gradients are still there when the step ends: model_zero_grad()",
                    got_all(loop, NAME_GRADIENT, step)};
    expect_all(loop, NAME_LEFT, step, check_doubles(loop->check, loop->P), tolerance_of_model(F32),
               &left, 1);
}

/* The next step begins at the weights that came back. */
static inline void go_on(Loop *loop, int step) {
    const Reference *reference = loop->reference;
    for (int i = 0; i < reference->param_count; i++) {
        const float *got = got_tensor(loop, NAME_WEIGHT, i, step);
        for (size_t j = 0; j < reference->params[i].count; j++) {
            reference->weight[i][j] = (double)got[j];
        }
    }
}

static inline void loop_free(Loop *loop) {
    reference_free(loop->reference);
}

#endif
