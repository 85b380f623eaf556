/* Gives inputs to a probe that trains, and compares what comes back parameter by parameter. The
   contract is in judge_training.h. */
#include "grader/judge_training.h"

#include <math.h>
#include <string.h>

/* ---- batches --------------------------------------------------------------------------------- */

Batch batch_full(Check *check, int V, int B, int T) {
    int N = B * T;
    int32_t *tokens = (int32_t *)check_doubles(check, (size_t)N);
    int32_t *targets = (int32_t *)check_doubles(check, (size_t)N);
    for (int i = 0; i < N; i++) {
        tokens[i] = check_int(check, 0, V - 1);
        targets[i] = check_int(check, 0, V - 1);
    }
    return (Batch){.B = B, .T = T, .tokens = tokens, .targets = targets, .valid = N};
}

static void batch_mask(Batch *batch, int i) {
    int32_t *targets = (int32_t *)batch->targets;
    batch->valid -= targets[i] != IGNORE_INDEX;
    targets[i] = IGNORE_INDEX;
}

void batch_cut_row(Check *check, Batch *batch, int b, int length) {
    for (int t = 0; t < batch->T; t++) {
        int i = b * batch->T + t;
        if (t >= length) {
            ((int32_t *)batch->tokens)[i] = 0; /* padding */
        }
        if (t >= length || (t > 0 && check_int(check, 0, 9) == 0)) {
            batch_mask(batch, i);
        }
    }
}

Batch batch_ragged(Check *check, int V, int B, int T, int shorter) {
    Batch batch = batch_full(check, V, B, T);
    for (int b = 0; b < B; b++) {
        batch_cut_row(check, &batch, b, T - b * shorter);
    }
    return batch;
}

Batch batch_uneven(Check *check, int V, int B, int T) {
    Batch batch = batch_full(check, V, B, T);
    for (int b = 0; b < B; b++) {
        batch_cut_row(check, &batch, b, check_int(check, 1, T));
    }
    return batch;
}

Batch batch_all_masked(Batch batch) {
    for (int i = 0; i < batch.B * batch.T; i++) {
        batch_mask(&batch, i);
    }
    return batch;
}

Batch batch_one_target(Batch batch) {
    for (int i = 1; i < batch.B * batch.T; i++) {
        batch_mask(&batch, i);
    }
    return batch;
}

void batches_give(Check *check, const Batch *batch, int batches) {
    int32_t shapes[2 * MOST_BATCHES];
    size_t count = 0, at = 0;
    CHECK(batches <= MOST_BATCHES, "%d batches", batches);
    for (int i = 0; i < batches; i++) {
        shapes[2 * i] = batch[i].B;
        shapes[2 * i + 1] = batch[i].T;
        count += (size_t)(batch[i].B * batch[i].T);
    }
    int32_t *tokens = (int32_t *)check_doubles(check, count);
    int32_t *targets = (int32_t *)check_doubles(check, count);
    for (int i = 0; i < batches; i++) {
        size_t N = (size_t)(batch[i].B * batch[i].T);
        memcpy(tokens + at, batch[i].tokens, N * sizeof *tokens);
        memcpy(targets + at, batch[i].targets, N * sizeof *targets);
        at += N;
    }
    check_give(check, "shapes", WIRE_I32, shapes, 2 * (size_t)batches);
    check_give(check, "tokens", WIRE_I32, tokens, count);
    check_give(check, "targets", WIRE_I32, targets, count);
}

/* ---- what is given --------------------------------------------------------------------------- */

void given_random_weights(Given *given) {
    const Reference *reference = given->reference;
    float *weight = given->start = check_normal(given->check, given->P, 0.1, F32);
    for (int i = 0; i < reference->param_count; i++) {
        for (size_t j = 0; j < reference->params[i].count; j++, weight++) {
            *weight += reference->params[i].init == INIT_ONE ? 1.0f : 0.0f;
            *weight = check_round(*weight, given->config.precision);
            reference->weight[i][j] = (double)*weight;
        }
    }
}

void given_small_gradients(Given *given) {
    enum { FIRST = LNF_WEIGHT, LAST = LNF_BIAS };
    const Param *params = given->reference->params;
    size_t at = 0;
    for (int i = 0; i <= LAST; at += params[i++].count) {
        for (size_t j = 0; i >= FIRST && j < params[i].count; j++) {
            float *weight = &given->start[at + j];
            *weight = check_round(0.1f * *weight, given->config.precision);
            given->reference->weight[i][j] = (double)*weight;
        }
    }
}

Given given_new(Check *check, ModelConfig config, const char *when) {
    Given given = {.check = check,
                   .when = when,
                   .config = config,
                   .adamw = {.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f, .weight_decay = 0.1f},
                   .schedule = {.learning_rate = 1e-2f, .warmup_steps = 4, .max_steps = 20},
                   .seed = (uint64_t)check_int(check, 1, 1 << 30),
                   .reference = reference_new(&config)};
    given.P = reference_elements(given.reference);
    given_random_weights(&given);
    return given;
}

void given_give(const Given *given) {
    Check *check = given->check;
    const AdamW *a = &given->adamw;
    const Schedule *s = &given->schedule;
    check_give_config(check, &given->config);
    batches_give(check, given->batch, given->batches);
    check_give(check, "weights", WIRE_F32, given->start, given->P);
    check_give(check, "adamw", WIRE_F32, (float[]){a->beta1, a->beta2, a->epsilon, a->weight_decay},
               4);
    check_give(check, "rate", WIRE_F32, (float[]){s->learning_rate, given->max_norm}, 2);
    check_give(check, "schedule", WIRE_I32,
               (int32_t[]){(int32_t)s->decay, s->warmup_steps, s->max_steps}, 3);
    check_give(check, "seed", WIRE_U64, &given->seed, 1);
}

void given_want(const Given *given, const char *what, int times) {
    char name[WIRE_NAME];
    for (int time = 0; time < times; time++) {
        for (int i = 0; i < given->reference->param_count; i++) {
            const Param *param = &given->reference->params[i];
            check_want(given->check, param_name(name, what, param, given->when, time), WIRE_F32,
                       param->count);
        }
    }
}

/* ---- what came back -------------------------------------------------------------------------- */

const float *given_got(const Given *given, const char *what, int i, int time) {
    char name[WIRE_NAME];
    const Param *param = &given->reference->params[i];
    return check_got(given->check, param_name(name, what, param, given->when, time), WIRE_F32);
}

double *given_got_all(const Given *given, const char *what, int time) {
    double *values = check_doubles(given->check, given->P), *to = values;
    for (int i = 0; i < given->reference->param_count; i++) {
        const float *got = given_got(given, what, i, time);
        for (size_t j = 0; j < given->reference->params[i].count; j++) {
            *to++ = (double)got[j];
        }
    }
    return values;
}

bool given_came_back(const Given *given, const char *what, int time) {
    return float_bits(given_got(given, what, 0, time)[0]) != 0xFFFFFFFFu;
}

bool given_expect(const Given *given, const char *what, int time, const double *want,
                  Tolerance tolerance, const Suspect *suspects, int count) {
    Suspect part[MOST_SUSPECTS];
    char name[WIRE_NAME], scope[WIRE_NAME];
    size_t first = 0;
    bool right = true;
    CHECK(count <= MOST_SUSPECTS, "%d suspects", count);
    for (int i = 0; i < given->reference->param_count; i++) {
        const Param *param = &given->reference->params[i];
        for (int k = 0; k < count; k++) {
            part[k] = (Suspect){suspects[k].sentence, suspects[k].values + first};
        }
        right &= check_close_in(given->check, param_scope(scope, param),
                                param_name(name, what, param, given->when, time), want + first,
                                param->count, tolerance, part, count);
        first += param->count;
    }
    return right;
}

void given_go_on(Given *given, int time) {
    for (int i = 0; i < given->reference->param_count; i++) {
        const float *got = given_got(given, NAME_WEIGHT, i, time);
        for (size_t j = 0; j < given->reference->params[i].count; j++) {
            given->reference->weight[i][j] = (double)got[j];
        }
    }
}

/* ---- what is right --------------------------------------------------------------------------- */

double given_pass(Given *given, const Batch *batch, double share) {
    double loss = reference_pass(given->reference, batch, share, given->seed, given->drawn);
    given->drawn += reference_pass_counters(&given->config, batch->B * batch->T);
    return loss;
}

double *given_end_to_end(const Given *given, double *const *tensor) {
    double *values = check_doubles(given->check, given->P), *to = values;
    for (int i = 0; i < given->reference->param_count; i++) {
        size_t count = given->reference->params[i].count;
        memcpy(to, tensor[i], count * sizeof *to);
        to += count;
    }
    return values;
}

void given_clip(const Given *given, double *gradient, double limit) {
    double factor = reference_clip(norm_of(gradient, given->P), limit);
    for (size_t i = 0; i < given->P; i++) {
        gradient[i] *= factor;
    }
}

double given_rate(const Given *given, int ticks) {
    Schedule schedule = given->schedule;
    schedule.step = ticks;
    return (double)schedule_rate(&schedule);
}

void given_adamw(const Given *given, double *weights, double *m, double *v, const double *gradient,
                 double rate, int t) {
    const AdamW *a = &given->adamw;
    size_t first = 0;
    for (int i = 0; i < given->reference->param_count; i++) {
        const Param *param = &given->reference->params[i];
        double decay = param_is_matrix(param) ? (double)a->weight_decay : 0;
        reference_adamw(weights + first, m + first, v + first, gradient + first, param->count, rate,
                        (double)a->beta1, (double)a->beta2, (double)a->epsilon, decay, t);
        first += param->count;
    }
}

double *given_at_own_rate(const Given *given, const char *name, int step, const double *at_zero,
                          const double *at_one) {
    double *values = given_got_all(given, name, step), gone = 0, way = 0;
    for (size_t i = 0; i < given->P; i++) {
        double unit = at_one[i] - at_zero[i];
        gone += (values[i] - at_zero[i]) * unit;
        way += unit * unit;
    }
    double rate = way > 0 ? gone / way : 0;
    for (size_t i = 0; i < given->P; i++) {
        values[i] = at_zero[i] + rate * (at_one[i] - at_zero[i]);
    }
    return values;
}

const char OTHER_RATE[] =
    "the update used a rate that is not the schedule's: ask schedule_rate() each time";

bool values_have_nan(const double *values, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (isnan(values[i])) {
            return true;
        }
    }
    return false;
}
