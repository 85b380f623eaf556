#include "grader/labs/05_fp16/job.h"

#include <math.h>
#include <string.h>

/* Three micro-batches, the one in the middle without any valid target. */
static void job_add_batches(Given *given) {
    Check *check = given->check;
    for (int k = 0; k < 3; k++) {
        int B = check_int(check, 1, 3), T = check_int(check, 4, given->config.T);
        Batch batch = batch_ragged(check, given->config.V, B, T, 1);
        given->batch[given->batches++] = k == 1 ? batch_all_masked(batch) : batch;
    }
}

Job job_new(Check *check, int L, int C) {
    ModelConfig config = {.V = 256, .T = 8, .L = L, .NH = 2, .C = C, .precision = F16};
    Job job = {.windows = windows_new(check, config, "window", 3),
               .scaler = {4096, 2, 0.5, 1, 2000, 0}};
    job.windows.given.schedule.max_steps = 200;
    job_add_batches(&job.windows.given);
    return job;
}

MixedWindow *job_add_window(Job *job, float scale) {
    CHECK(job->windows.stop < MIXED_WINDOWS, "more than %d windows", MIXED_WINDOWS);
    job->window[job->windows.stop] = (MixedWindow){.count = 3, .scale = scale};
    return &job->window[job->windows.stop++];
}

void job_free(Job *job) {
    windows_free(&job->windows);
}

static void job_want(const Job *job, int wants) {
    Check *check = job->windows.given.check;
    size_t windows = (size_t)job->windows.stop;
    char name[WIRE_NAME];
    check_want(check, "trace", WIRE_U64, COLUMNS * windows);
    check_want(check, "lowered", WIRE_U64, windows);
    check_want(check, "dloss", WIRE_F32, (size_t)job->windows.given.batches);
    check_want(check, "bytes", WIRE_U64, MEMORY_KINDS);
    check_want(check, "apart", WIRE_U64, APARTS);
    check_want(check, "loss", WIRE_F32, 2);
    check_want(check, "tokens", WIRE_U64, 2);
    for (int w = 0; w < job->windows.stop && (wants & WANT_STATES); w++) {
        check_want(check, op_name(name, NAME_STATES, w), WIRE_F32, 5 * job->windows.given.P);
    }
}

float *job_masters(const Job *job) {
    const Given *given = &job->windows.given;
    float *masters = check_normal(given->check, given->P, 0, F32);
    for (size_t i = 0; i < given->P; i++) {
        masters[i] = given->start[i] * (1 + 0x1p-13f); /* half a unit is 2^-12 of it, or more */
    }
    return masters;
}

void job_give(Job *job, int wants) {
    Check *check = job->windows.given.check;
    const Automaton *scaler = &job->scaler;
    if (job->windows.option[OPTION_GPU]) {
        check_memory(check, 0);
    }
    windows_give(&job->windows, wants);
    check_give(check, "scaler", WIRE_F32,
               (float[]){(float)scaler->scale, (float)scaler->growth, (float)scaler->backoff,
                         (float)scaler->floor},
               4);
    check_give(check, "counts", WIRE_I32, (int32_t[]){scaler->interval, scaler->good_steps}, 2);
    check_give(check, "masters", WIRE_F32, job_masters(job), job->windows.given.P);
    check_give(check, "windows", WIRE_BYTES, job->window,
               (size_t)job->windows.stop * sizeof *job->window);
    job_want(job, wants);
}

bool job_run_windows(const Job *job) {
    return check_run(job->windows.given.check, "windows", SECONDS);
}

bool job_run(Job *job, int wants) {
    job_give(job, wants);
    return job_run_windows(job);
}

/* ---- what is right --------------------------------------------------------------------------- */

double job_share(const Job *job) {
    int valid = 0;
    for (int k = 0; k < 3; k++) {
        valid += job->windows.given.batch[k].valid;
    }
    return 1.0 / valid;
}

static void pass_window(Job *job) {
    Given *given = &job->windows.given;
    reference_zero_grad(given->reference);
    given->drawn = 0;
    for (int k = 0; k < 3; k++) {
        given_pass(given, &given->batch[k], job_share(job));
    }
    job->gradient = given_end_to_end(given, given->reference->grad);
    job->norm = norm_of(job->gradient, given->P);
}

/* Whether a norm, clipped to 1, can be taken for what it was. */
static bool is_near_one(double norm) {
    return norm > 0.95 && norm < 1.15;
}

/* Whether the kit's own half takes half of the tolerance at most: of so few tokens some gradients
   cancel, and rounding is much of what is left. */
static bool half_comes_close(const Job *job) {
    const Reference *reference = job->windows.given.reference;
    Tolerance half = tolerance_of_model(job->windows.given.config.precision);
    half = (Tolerance){half.relative / 2, half.scaled / 2, half.norm / 2};
    const float *got = job_kit_gradient(job, 1024);
    const double *want = job->gradient;
    for (int i = 0; i < reference->param_count; i++) {
        size_t n = reference->params[i].count;
        if (!compare(got, want, n, half).pass) {
            return false;
        }
        got += n;
        want += n;
    }
    return true;
}

void job_work_out(Job *job) {
    pass_window(job);
    while (is_near_one(job->norm) || is_near_one(job->norm / job->scaler.growth) ||
           !half_comes_close(job)) {
        given_random_weights(&job->windows.given);
        pass_window(job);
    }
}

float *job_kit_gradient(const Job *job, float scale) {
    float *all = check_normal(job->windows.given.check, job->windows.given.P, 0, F32), *to = all;
    const float *from = job->windows.given.start;
    Model *model =
        judge_model_open(judge_device(1), &job->windows.given.config, job->windows.given.seed);
    for (int i = 0; i < model->param_count; i++) {
        model_upload_weight(model, &model->params[i], from);
        from += model->params[i].count;
    }
    for (int k = 0; k < 3; k++) {
        model_forward(model, &job->windows.given.batch[k]);
        model_backward(model, (float)job_share(job) * scale);
    }
    for (int i = 0; i < model->param_count; i++) {
        for (size_t j = 0; j < model->params[i].count; j++) {
            *to++ = model->params[i].grad[j] / scale;
        }
    }
    judge_model_close(model);
    return all;
}

double *job_kit_bits(const Job *job) {
    Check *check = job->windows.given.check;
    float scale = job->window[0].scale;
    bool gpu = job->windows.option[OPTION_GPU];
    if (gpu && !check_run_kit(check, "plain", SECONDS)) {
        return NULL;
    }
    const float *kit = gpu ? NULL : job_kit_gradient(job, scale);
    double *bits = gpu ? given_got_all(&job->windows.given, NAME_GRADIENT, 0)
                       : check_doubles(check, job->windows.given.P);
    for (size_t i = 0; i < job->windows.given.P; i++) {
        bits[i] = gpu ? bits[i] / (double)scale : (double)kit[i];
    }
    return bits;
}

double *job_scaled(const Job *job, double factor) {
    return windows_scaled(&job->windows, factor, job->gradient, NULL);
}

bool job_stepped(const Job *job, int w) {
    return windows_stepped(
        &job->windows, w,
        "window %d: all gradients were finite, but optimizer_step() was not called: is "
        "model->result set to 0 before the first tensor, and fetched before another op, as that of "
        "a norm, writes it?",
        w + 1);
}

uint64_t job_traced(const Job *job, int w, Column column) {
    return ((const uint64_t *)check_got(job->windows.given.check, "trace",
                                        WIRE_U64))[COLUMNS * w + (int)column];
}
