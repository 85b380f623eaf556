/**
 * @file 05_windows.h
 * @brief Lab 05 in the judge: windows in half precision, what is given, what is right, what is
 * said.
 * @ingroup grader
 */
#ifndef GRADER_JUDGES_05_WINDOWS_H
#define GRADER_JUDGES_05_WINDOWS_H

#include <stdlib.h>

#include "common/optimizer.h"
#include "grader/judges/05_scaler.h"
#include "grader/probes/05_fp16.h"
#include "grader/reference.h"
#include "kernels/half.h"

enum { MOST_BATCHES = 12, MOST_WINDOWS = 128, MOST_TOKENS = 64 };

/* What a check gives, and what is known of it. */
typedef struct Job {
    Check *check;
    ModelConfig config;
    Batch batch[MOST_BATCHES];
    int batches;
    Window window[MOST_WINDOWS];
    int windows;
    AdamW adamw;
    Schedule schedule;
    float max_norm;
    Automaton scaler;
    uint64_t seed;
    int32_t option[OPTIONS];
    size_t P;             /* numbers in all parameters: those below lie end to end */
    Reference *reference; /* at the weights that are given */
    float *start;         /* (P) these weights, as half can hold them */
    double *gradient;     /* (P) of the mean over a window's valid targets */
    double norm;          /* its norm */
    uint64_t drawn;       /* counters of the dropout stream */
} Job;

static inline float rounded(float x, Precision precision) {
    return precision == F16 ? half_to_float(half_from_float(x)) : bf16_to_float(bf16_from_float(x));
}

/* Rows of different lengths, some targets masked. */
static inline void add_batch(Job *job, bool empty) {
    Check *check = job->check;
    Batch batch = {.B = check_int(check, 1, 3), .T = check_int(check, 4, job->config.T)};
    int N = batch.B * batch.T;
    /* Room that is freed with the check. */
    int32_t *tokens = (int32_t *)check_doubles(check, (size_t)N);
    int32_t *targets = (int32_t *)check_doubles(check, (size_t)N);
    for (int i = 0; i < N; i++) {
        int b = i / batch.T, t = i % batch.T, length = batch.T - b;
        bool valid = !empty && t < length && (t == 0 || check_int(check, 0, 9) > 0);
        tokens[i] = t < length ? check_int(check, 0, job->config.V - 1) : 0;
        targets[i] = valid ? check_int(check, 0, job->config.V - 1) : IGNORE_INDEX;
        batch.valid += valid;
    }
    batch.tokens = tokens;
    batch.targets = targets;
    job->batch[job->batches++] = batch;
}

static inline void random_weights(Job *job) {
    const Reference *reference = job->reference;
    float *weight = job->start = check_normal(job->check, job->P, 0.1, F32);
    for (int i = 0; i < reference->param_count; i++) {
        for (size_t j = 0; j < reference->params[i].count; j++, weight++) {
            *weight += reference->params[i].init == INIT_ONE ? 1.0f : 0.0f;
            *weight = rounded(*weight, job->config.precision);
            reference->weight[i][j] = (double)*weight;
        }
    }
}

/* A small model in f16, three micro-batches, the one in the middle without any valid target. */
static inline Job job_new(Check *check, int L, int C) {
    Job job = {.check = check,
               .config = {.V = 256, .T = 8, .L = L, .NH = 2, .C = C, .precision = F16},
               .adamw = {.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f, .weight_decay = 0.1f},
               .schedule = {.learning_rate = 1e-2f, .warmup_steps = 4, .max_steps = 200},
               .scaler = {4096, 2, 0.5, 1, 2000, 0},
               .seed = (uint64_t)check_int(check, 1, 1 << 30)};
    job.reference = reference_new(&job.config);
    for (int i = 0; i < job.reference->param_count; i++) {
        job.P += job.reference->params[i].count;
    }
    job.gradient = check_doubles(check, job.P);
    random_weights(&job);
    for (int k = 0; k < 3; k++) {
        add_batch(&job, k == 1);
    }
    return job;
}

static inline Window *add_window(Job *job, float scale) {
    CHECK(job->windows < MOST_WINDOWS, "more than %d windows", MOST_WINDOWS);
    job->window[job->windows] = (Window){.count = 3, .scale = scale};
    return &job->window[job->windows++];
}

static inline void job_free(Job *job) {
    reference_free(job->reference);
}

static inline void give_batches(const Job *job) {
    int32_t shapes[2 * MOST_BATCHES];
    int32_t tokens[MOST_BATCHES * MOST_TOKENS], targets[MOST_BATCHES * MOST_TOKENS];
    size_t count = 0;
    for (int i = 0; i < job->batches; i++) {
        const Batch *batch = &job->batch[i];
        size_t N = (size_t)batch->B * (size_t)batch->T;
        shapes[2 * i] = batch->B;
        shapes[2 * i + 1] = batch->T;
        CHECK(N <= MOST_TOKENS, "a batch of %zu tokens", N);
        memcpy(tokens + count, batch->tokens, N * sizeof *tokens);
        memcpy(targets + count, batch->targets, N * sizeof *targets);
        count += N;
    }
    check_give(job->check, "shapes", WIRE_I32, shapes, 2 * (size_t)job->batches);
    check_give(job->check, "tokens", WIRE_I32, tokens, count);
    check_give(job->check, "targets", WIRE_I32, targets, count);
}

static inline void want_tensors(const Job *job, const char *what) {
    char name[WIRE_NAME];
    for (int w = 0; w < job->windows; w++) {
        for (int i = 0; i < job->reference->param_count; i++) {
            const Param *param = &job->reference->params[i];
            check_want(job->check, window_name(name, what, param, w), WIRE_F32, param->count);
        }
    }
}

static inline void want_all(const Job *job, int wants) {
    Check *check = job->check;
    size_t windows = (size_t)job->windows;
    char name[WIRE_NAME];
    check_want(check, "grad_norm", WIRE_F32, windows);
    check_want(check, "learning_rate", WIRE_F32, windows);
    check_want(check, "trace", WIRE_U64, 6 * windows);
    check_want(check, "dloss", WIRE_F32, (size_t)job->batches);
    check_want(check, "bytes", WIRE_U64, MEMORY_KINDS);
    if (wants & WANT_GRADIENTS) {
        want_tensors(job, NAME_GRADIENT);
    }
    if (wants & WANT_UPDATE) {
        want_tensors(job, NAME_WEIGHT);
        want_tensors(job, NAME_MASTER);
        want_tensors(job, NAME_M);
        want_tensors(job, NAME_V);
    }
    for (int w = 0; w < job->windows && (wants & WANT_STATES); w++) {
        check_want(check, op_name(name, NAME_STATES, w), WIRE_F32, 5 * job->P);
    }
}

static inline bool run(Job *job, int wants) {
    Check *check = job->check;
    const AdamW *a = &job->adamw;
    const Schedule *s = &job->schedule;
    const Automaton *scaler = &job->scaler;
    job->option[OPTION_WANTS] = wants;
    if (job->option[OPTION_GPU]) {
        check_memory(check, 0);
    }
    check_give_config(check, &job->config);
    give_batches(job);
    check_give(check, "weights", WIRE_F32, job->start, job->P);
    check_give(check, "adamw", WIRE_F32, (float[]){a->beta1, a->beta2, a->epsilon, a->weight_decay},
               4);
    check_give(check, "rate", WIRE_F32, (float[]){s->learning_rate, job->max_norm}, 2);
    check_give(check, "schedule", WIRE_I32,
               (int32_t[]){(int32_t)s->decay, s->warmup_steps, s->max_steps}, 3);
    check_give(check, "seed", WIRE_U64, &job->seed, 1);
    check_give(check, "scaler", WIRE_F32,
               (float[]){(float)scaler->scale, (float)scaler->growth, (float)scaler->backoff,
                         (float)scaler->floor},
               4);
    check_give(check, "counts", WIRE_I32, (int32_t[]){scaler->interval, scaler->good_steps}, 2);
    check_give(check, "windows", WIRE_BYTES, job->window,
               (size_t)job->windows * sizeof *job->window);
    check_give(check, "options", WIRE_I32, job->option, OPTIONS);
    want_all(job, wants);
    return check_run(check, "windows", 20);
}

/* ---- what is right --------------------------------------------------------------------------- */

static inline double share_of(const Job *job) {
    int valid = 0;
    for (int k = 0; k < 3; k++) {
        valid += job->batch[k].valid;
    }
    return 1.0 / valid;
}

/* Gradient of a window of the three micro-batches, and its norm, at the weights that are given. */
static inline void work_out(Job *job) {
    Reference *reference = job->reference;
    reference_zero_grad(reference);
    job->drawn = 0;
    for (int k = 0; k < 3; k++) {
        const Batch *batch = &job->batch[k];
        reference_pass(reference, batch, share_of(job), job->seed, job->drawn);
        job->drawn += reference_pass_counters(&job->config, batch->B * batch->T);
    }
    double *to = job->gradient;
    for (int i = 0; i < reference->param_count; i++) {
        memcpy(to, reference->grad[i], reference->params[i].count * sizeof *to);
        to += reference->params[i].count;
    }
    job->norm = norm_of(job->gradient, job->P);
}

/* (P) the same window's gradient by the kit's own model in half, without anything of lab 05. */
static inline float *kit_gradient(const Job *job, float scale) {
    float *all = check_normal(job->check, job->P, 0, F32), *to = all;
    const float *from = job->start;
    Device *device = device_cpu_new(64 << 20);
    CHECK(device != NULL, "no memory for a small model");
    Memory *memory = memory_new(device, (MemoryOptions){0});
    Model *model = model_new(&job->config, memory, job->seed);
    for (int i = 0; i < model->param_count; i++) {
        model_upload_weight(model, &model->params[i], from);
        from += model->params[i].count;
    }
    for (int k = 0; k < 3; k++) {
        model_forward(model, &job->batch[k]);
        model_backward(model, (float)share_of(job) * scale);
    }
    for (int i = 0; i < model->param_count; i++) {
        for (size_t j = 0; j < model->params[i].count; j++) {
            *to++ = model->params[i].grad[j] / scale;
        }
    }
    model_free(model);
    memory_free(memory);
    device_free(device);
    return all;
}

/* (P) factor * gradient */
static inline double *scaled(const Job *job, double factor) {
    double *values = check_doubles(job->check, job->P);
    for (size_t i = 0; i < job->P; i++) {
        values[i] = factor * job->gradient[i];
    }
    return values;
}

static const float *got_tensor(const Job *job, const char *what, int i, int w) {
    char name[WIRE_NAME];
    const Param *param = &job->reference->params[i];
    return check_got(job->check, window_name(name, what, param, w), WIRE_F32);
}

/* (P) the tensors of that kind that came back. */
static inline double *got_all(const Job *job, const char *what, int w) {
    double *values = check_doubles(job->check, job->P), *to = values;
    for (int i = 0; i < job->reference->param_count; i++) {
        const float *got = got_tensor(job, what, i, w);
        for (size_t j = 0; j < job->reference->params[i].count; j++) {
            *to++ = (double)got[j];
        }
    }
    return values;
}

/* Compares all tensors of a kind; suspects are (P) like `want`. */
static inline bool expect_all(const Job *job, const char *what, int w, const double *want,
                              Tolerance tolerance, const Suspect *suspects, int count) {
    enum { MOST_SUSPECTS = 8 };
    Suspect part[MOST_SUSPECTS];
    char name[WIRE_NAME];
    size_t first = 0;
    bool right = true;
    CHECK(count <= MOST_SUSPECTS, "%d suspects", count);
    for (int i = 0; i < job->reference->param_count; i++) {
        const Param *param = &job->reference->params[i];
        for (int k = 0; k < count; k++) {
            part[k] = (Suspect){suspects[k].sentence, suspects[k].values + first};
        }
        right &= check_close(job->check, window_name(name, what, param, w), want + first,
                             param->count, tolerance, part, count);
        first += param->count;
    }
    return right;
}

/* What was never handed back is still as the judge filled it. */
static inline bool stepped(const Job *job, int w) {
    bool missing = float_bits(got_tensor(job, NAME_GRADIENT, 0, w)[0]) == 0xFFFFFFFFu;
    if (missing) {
        check_fail(job->check,
                   "window %d: all gradients were finite, but optimizer_step() was not "
                   "called",
                   w + 1);
    }
    return !missing;
}

/* One column of the trace. */
typedef enum Column { SCALE, GOOD_STEPS, SKIPPED, T_STEPS, TICKS, STEPPED, COLUMNS } Column;

static inline uint64_t traced(const Job *job, int w, Column column) {
    return ((const uint64_t *)check_got(job->check, "trace", WIRE_U64))[COLUMNS * w + (int)column];
}

#endif
