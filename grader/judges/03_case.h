/**
 * @file 03_case.h
 * @brief The judge's part of lab 03: what a check gives to the probe, and wants back.
 * @ingroup grader
 */
#ifndef GRADER_JUDGES_03_CASE_H
#define GRADER_JUDGES_03_CASE_H

#include <string.h>

#include "common/optimizer.h"
#include "grader/check.h"
#include "grader/probes/03_accumulate.h"
#include "grader/reference.h"

enum { MOST_MICROS = 16, MOST_WINDOWS = 8, SECONDS = 20 };

/* What a check gives, and where its windows have come to. */
typedef struct Case {
    Check *check;
    ModelConfig config;
    int steps, epochs, stop, gpu;
    int micros; /* of one epoch */
    Batch batch[MOST_MICROS];
    AdamW adamw;
    Schedule schedule;
    float max_norm;
    uint64_t seed;
    size_t P;             /* numbers in all parameters: those below lie end to end */
    Reference *reference; /* at the weights where the present window began */
    double *m, *v;        /* (P) moments of the windows so far */
    float *start;         /* (P) weights that are given */
    uint64_t drawn;       /* counters of the dropout stream */
} Case;

/* ---- what is given --------------------------------------------------------------------------- */

/* Rows of different lengths, a tenth of the targets masked: as data.h makes of documents. */
static inline Batch random_batch(Check *check, const ModelConfig *config, int B, int T,
                                 bool masked) {
    Batch batch = {.B = B, .T = T};
    /* Room that is freed with the check. */
    int32_t *tokens = (int32_t *)check_doubles(check, (size_t)(B * T));
    int32_t *targets = (int32_t *)check_doubles(check, (size_t)(B * T));
    for (int b = 0; b < B; b++) {
        int length = check_int(check, 1, T);
        for (int t = 0; t < T; t++) {
            int i = b * T + t;
            bool valid = !masked && t < length && (t == 0 || check_int(check, 0, 9) > 0);
            tokens[i] = t < length ? check_int(check, 0, config->V - 1) : 0;
            targets[i] = valid ? check_int(check, 0, config->V - 1) : IGNORE_INDEX;
            batch.valid += valid;
        }
    }
    batch.tokens = tokens;
    batch.targets = targets;
    return batch;
}

/* B rows of T targets that all count. */
static inline Batch full_batch(Check *check, const ModelConfig *config, int B, int T) {
    Batch batch = random_batch(check, config, B, T, true);
    for (int i = 0; i < B * T; i++) {
        ((int32_t *)batch.tokens)[i] = check_int(check, 0, config->V - 1);
        ((int32_t *)batch.targets)[i] = check_int(check, 0, config->V - 1);
    }
    batch.valid = B * T;
    return batch;
}

/* Scales near 1, everything else near 0, nothing exactly there. */
static inline void random_weights(Case *it) {
    it->start = check_normal(it->check, it->P, 0.1, F32);
    float *start = it->start;
    for (int i = 0; i < it->reference->param_count; i++) {
        const Param *param = &it->reference->params[i];
        for (size_t j = 0; j < param->count; j++, start++) {
            *start += param->init == INIT_ONE ? 1.0f : 0.0f;
            it->reference->weight[i][j] = (double)*start;
        }
    }
}

/* Windows of `steps` of so many micro-batches, whose sizes differ by more than ten times. */
static inline Case case_of(Check *check, ModelConfig config, int micros, int steps) {
    Case it = {.check = check,
               .gpu = check_on_gpu(),
               .config = config,
               .steps = steps,
               .epochs = 1,
               .micros = micros,
               .adamw = {.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f, .weight_decay = 0.1f},
               .schedule = {.learning_rate = 1e-2f, .warmup_steps = 4, .max_steps = 20},
               .seed = (uint64_t)check_int(check, 1, 1 << 30)};
    for (int i = 0; i < micros; i++) {
        bool small = i % 3 == 0;
        it.batch[i] = random_batch(check, &config, small ? 1 : check_int(check, 3, 4),
                                   small ? check_int(check, 2, 3) : config.T, false);
    }
    it.reference = reference_new(&config);
    for (int i = 0; i < it.reference->param_count; i++) {
        it.P += it.reference->params[i].count;
    }
    it.m = check_doubles(check, it.P);
    it.v = check_doubles(check, it.P);
    random_weights(&it);
    return it;
}

static inline Case case_new(Check *check, int micros, int steps, float dropout) {
    ModelConfig config = {.V = 256, .T = 12, .L = 2, .NH = 2, .C = 16, .dropout = dropout};
    return case_of(check, config, micros, steps);
}

static inline int windows_per_epoch(const Case *it) {
    return (it->micros + it->steps - 1) / it->steps;
}

static inline int windows_of(const Case *it) {
    return it->stop > 0 ? it->stop : it->epochs * windows_per_epoch(it);
}

/* The micro-batches of a window: the first, and how many. */
static inline int first_of(const Case *it, int window) {
    return window % windows_per_epoch(it) * it->steps;
}

static inline int count_of(const Case *it, int window) {
    int left = it->micros - first_of(it, window);
    return left < it->steps ? left : it->steps;
}

static inline void give_batches(const Case *it) {
    int32_t shapes[2 * MOST_MICROS];
    size_t count = 0;
    for (int i = 0; i < it->micros; i++) {
        shapes[2 * i] = it->batch[i].B;
        shapes[2 * i + 1] = it->batch[i].T;
        count += (size_t)(it->batch[i].B * it->batch[i].T);
    }
    int32_t *tokens = (int32_t *)check_doubles(it->check, count);
    int32_t *targets = (int32_t *)check_doubles(it->check, count);
    for (int i = 0, at = 0; i < it->micros; i++) {
        int N = it->batch[i].B * it->batch[i].T;
        memcpy(tokens + at, it->batch[i].tokens, (size_t)N * sizeof *tokens);
        memcpy(targets + at, it->batch[i].targets, (size_t)N * sizeof *targets);
        at += N;
    }
    check_give(it->check, "shapes", WIRE_I32, shapes, 2 * (size_t)it->micros);
    check_give(it->check, "tokens", WIRE_I32, tokens, count);
    check_give(it->check, "targets", WIRE_I32, targets, count);
}

static inline void want_tensors(const Case *it, const char *what) {
    char name[WIRE_NAME];
    for (int window = 0; window < windows_of(it); window++) {
        for (int i = 0; i < it->reference->param_count; i++) {
            const Param *param = &it->reference->params[i];
            check_want(it->check, window_name(name, what, param, window), WIRE_F32, param->count);
        }
    }
}

/* Everything that every case of the probe needs; check_run() may follow more than once. */
static inline void prepare(const Case *it, int wants) {
    Check *check = it->check;
    const AdamW *a = &it->adamw;
    const Schedule *s = &it->schedule;
    size_t windows = (size_t)windows_of(it);
    int32_t plan[PLAN_SIZE] = {it->steps, it->epochs, it->stop, wants, it->gpu};
    check_give_config(check, &it->config);
    give_batches(it);
    check_give(check, "plan", WIRE_I32, plan, PLAN_SIZE);
    check_give(check, "weights", WIRE_F32, it->start, it->P);
    check_give(check, "adamw", WIRE_F32, (float[]){a->beta1, a->beta2, a->epsilon, a->weight_decay},
               4);
    check_give(check, "rate", WIRE_F32, (float[]){s->learning_rate, it->max_norm}, 2);
    check_give(check, "schedule", WIRE_I32,
               (int32_t[]){(int32_t)s->decay, s->warmup_steps, s->max_steps}, 3);
    check_give(check, "seed", WIRE_U64, &it->seed, 1);
    check_want(check, "windows", WIRE_U64, 1);
    check_want(check, "peak", WIRE_U64, 1);
    static const char *const floats[] = {"loss", "grad_norm", "learning_rate"};
    static const char *const numbers[] = {"tokens", "schedule.step", "optimizer.steps",
                                          "open.window", "open.tokens"};
    for (int i = 0; i < 3; i++) {
        check_want(check, floats[i], WIRE_F32, windows);
    }
    for (int i = 0; i < 5; i++) {
        check_want(check, numbers[i], WIRE_U64, windows);
    }
    check_want(check, "sync_gradients", WIRE_U64, (size_t)it->micros);
    check_want(check, "trace", WIRE_U64, windows * TRACE_LENGTH);
    if (wants & WANT_GRADIENTS) {
        want_tensors(it, NAME_GRADIENT);
    }
    if (wants & WANT_UPDATE) {
        want_tensors(it, NAME_WEIGHT);
        want_tensors(it, NAME_M);
        want_tensors(it, NAME_V);
    }
    if (wants & WANT_LEFT) {
        want_tensors(it, NAME_LEFT);
    }
}

#endif
