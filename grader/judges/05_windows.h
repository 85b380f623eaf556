/**
 * @file 05_windows.h
 * @brief Lab 05 in the judge: windows in half precision, what is given, what is right, what is
 * said.
 * @ingroup grader
 */
#ifndef GRADER_JUDGES_05_WINDOWS_H
#define GRADER_JUDGES_05_WINDOWS_H

#include "grader/judges/05_scaler.h"
#include "grader/judges/peak.h"
#include "grader/judges/training.h"
#include "grader/probes/05_fp16.h"

enum { MOST_WINDOWS = 128 };

/* What a check gives, and what is known of it. The reference stays at the weights that are given.
 */
typedef struct Job {
    Given given;
    Window window[MOST_WINDOWS];
    int windows;
    Automaton scaler;
    int32_t option[OPTIONS];
    double *gradient; /* (P) of the mean over a window's valid targets */
    double norm;      /* its norm */
} Job;

/* Three micro-batches, the one in the middle without any valid target. */
static inline void add_batches(Given *given) {
    Check *check = given->check;
    for (int k = 0; k < 3; k++) {
        int B = check_int(check, 1, 3), T = check_int(check, 4, given->config.T);
        Batch batch = ragged_batch(check, given->config.V, B, T, 1);
        given->batch[given->batches++] = k == 1 ? all_masked(batch) : batch;
    }
}

/* A small model in f16. */
static inline Job job_new(Check *check, int L, int C) {
    ModelConfig config = {.V = 256, .T = 8, .L = L, .NH = 2, .C = C, .precision = F16};
    Job job = {.given = given_new(check, config, "window"), .scaler = {4096, 2, 0.5, 1, 2000, 0}};
    job.given.schedule.max_steps = 200;
    job.option[OPTION_GPU] = check_on_gpu();
    add_batches(&job.given);
    return job;
}

static inline Window *add_window(Job *job, float scale) {
    CHECK(job->windows < MOST_WINDOWS, "more than %d windows", MOST_WINDOWS);
    job->window[job->windows] = (Window){.count = 3, .scale = scale};
    return &job->window[job->windows++];
}

static inline void job_free(Job *job) {
    reference_free(job->given.reference);
}

static inline void want_all(const Job *job, int wants) {
    Check *check = job->given.check;
    size_t windows = (size_t)job->windows;
    char name[WIRE_NAME];
    check_want(check, "grad_norm", WIRE_F32, windows);
    check_want(check, "learning_rate", WIRE_F32, windows);
    check_want(check, "trace", WIRE_U64, 6 * windows);
    check_want(check, "dloss", WIRE_F32, (size_t)job->given.batches);
    check_want(check, "bytes", WIRE_U64, MEMORY_KINDS);
    if (wants & WANT_GRADIENTS) {
        want_params(&job->given, NAME_GRADIENT, job->windows);
    }
    if (wants & WANT_UPDATE) {
        want_params(&job->given, NAME_WEIGHT, job->windows);
        want_params(&job->given, NAME_MASTER, job->windows);
        want_params(&job->given, NAME_M, job->windows);
        want_params(&job->given, NAME_V, job->windows);
    }
    for (int w = 0; w < job->windows && (wants & WANT_STATES); w++) {
        check_want(check, op_name(name, NAME_STATES, w), WIRE_F32, 5 * job->given.P);
    }
}

static inline void prepare(Job *job, int wants) {
    Check *check = job->given.check;
    const Automaton *scaler = &job->scaler;
    job->option[OPTION_WANTS] = wants;
    if (job->option[OPTION_GPU]) {
        check_memory(check, 0);
    }
    give(&job->given);
    check_give(check, "scaler", WIRE_F32,
               (float[]){(float)scaler->scale, (float)scaler->growth, (float)scaler->backoff,
                         (float)scaler->floor},
               4);
    check_give(check, "counts", WIRE_I32, (int32_t[]){scaler->interval, scaler->good_steps}, 2);
    check_give(check, "windows", WIRE_BYTES, job->window,
               (size_t)job->windows * sizeof *job->window);
    check_give(check, "options", WIRE_I32, job->option, OPTIONS);
    want_all(job, wants);
}

static inline bool run_windows(const Job *job) {
    return check_run(job->given.check, "windows", SECONDS);
}

static inline bool run(Job *job, int wants) {
    prepare(job, wants);
    return run_windows(job);
}

/* ---- what is right --------------------------------------------------------------------------- */

static inline double share_of(const Job *job) {
    int valid = 0;
    for (int k = 0; k < 3; k++) {
        valid += job->given.batch[k].valid;
    }
    return 1.0 / valid;
}

/* Gradient of a window of the three micro-batches, and its norm, at the weights that are given. */
static inline void work_out(Job *job) {
    Given *given = &job->given;
    reference_zero_grad(given->reference);
    given->drawn = 0;
    for (int k = 0; k < 3; k++) {
        pass(given, &given->batch[k], share_of(job));
    }
    job->gradient = end_to_end(given, given->reference->grad);
    job->norm = norm_of(job->gradient, given->P);
}

/* (P) the same window's gradient by the kit's own model in half, without anything of lab 05. */
static inline float *kit_gradient(const Job *job, float scale) {
    float *all = check_normal(job->given.check, job->given.P, 0, F32), *to = all;
    const float *from = job->given.start;
    Model *model = open_model(open_device(1), &job->given.config, job->given.seed);
    for (int i = 0; i < model->param_count; i++) {
        model_upload_weight(model, &model->params[i], from);
        from += model->params[i].count;
    }
    for (int k = 0; k < 3; k++) {
        model_forward(model, &job->given.batch[k]);
        model_backward(model, (float)share_of(job) * scale);
    }
    for (int i = 0; i < model->param_count; i++) {
        for (size_t j = 0; j < model->params[i].count; j++) {
            *to++ = model->params[i].grad[j] / scale;
        }
    }
    close_model(model);
    return all;
}

/* (P) of the first window, at its scale and on the device that it runs on; NULL if the probe did
   not come to an end. On the GPU the probe has to run it: kernels of labs are in no judge. */
static inline double *kit_bits(const Job *job) {
    Check *check = job->given.check;
    float scale = job->window[0].scale;
    bool gpu = job->option[OPTION_GPU];
    if (gpu && !check_run_kit(check, "plain", SECONDS)) {
        return NULL;
    }
    const float *kit = gpu ? NULL : kit_gradient(job, scale);
    double *bits =
        gpu ? got_all(&job->given, NAME_GRADIENT, 0) : check_doubles(check, job->given.P);
    for (size_t i = 0; i < job->given.P; i++) {
        bits[i] = gpu ? bits[i] / (double)scale : (double)kit[i];
    }
    return bits;
}

/* (P) factor * gradient */
static inline double *scaled(const Job *job, double factor) {
    double *values = check_doubles(job->given.check, job->given.P);
    for (size_t i = 0; i < job->given.P; i++) {
        values[i] = factor * job->gradient[i];
    }
    return values;
}

static inline bool stepped(const Job *job, int w) {
    bool stepped = came_back(&job->given, NAME_GRADIENT, w);
    if (!stepped) {
        check_fail(job->given.check,
                   "window %d: all gradients were finite, but optimizer_step() was not called: is "
                   "what unscale() stores into 0 before the first tensor?",
                   w + 1);
    }
    return stepped;
}

/* One column of the trace. */
typedef enum Column { SCALE, GOOD_STEPS, SKIPPED, T_STEPS, TICKS, STEPPED, COLUMNS } Column;

static inline uint64_t traced(const Job *job, int w, Column column) {
    return ((const uint64_t *)check_got(job->given.check, "trace",
                                        WIRE_U64))[COLUMNS * w + (int)column];
}

#endif
