/**
 * @file 04_run.h
 * @brief The judge's part of lab 04: what a check gives to the probe, and wants back.
 * @ingroup grader
 */
#ifndef GRADER_JUDGES_04_RUN_H
#define GRADER_JUDGES_04_RUN_H

#include "common/lab04.h"
#include "grader/judges/peak.h"
#include "grader/judges/training.h"
#include "grader/probes/04_checkpoint.h"

enum { MOST_PASSES = 6 };
static const double SHARE = 1.0 / 64;

/* What a check gives, and what the plain step made of it. */
typedef struct Run {
    Check *check;
    ModelConfig config;
    Checkpoint checkpoint;
    bool gpu;
    int passes, window; /* a step every `window` passes */
    Batch batch[MOST_PASSES];
    uint64_t seed;
    size_t budget; /* bytes of everything */
    bool closed;   /* there is no memory beside the budget */
    size_t choose; /* bytes of activations that checkpoint_segment() is asked for; 0: it is not */
    Param *params;
    int param_count;
    float **plain; /* (steps * param_count) gradients */
    uint64_t loss[MOST_PASSES], stream[MOST_PASSES];
} Run;

/* ---- what is given --------------------------------------------------------------------------- */

/* Rows of very different lengths. */
static inline Batch random_batch(Check *check, int V, int B, int T) {
    Batch batch = full_batch(check, V, B, T);
    for (int b = 0; b < B; b++) {
        cut_row(check, &batch, b, T >> 2 * b);
    }
    return batch;
}

static inline Run *run_new(Check *check, ModelConfig config, Checkpoint checkpoint) {
    Run *run = (Run *)check_doubles(check, sizeof(Run));
    *run = (Run){.check = check,
                 .config = config,
                 .checkpoint = checkpoint,
                 .seed = (uint64_t)check_int(check, 1, 1 << 30)};
    run->param_count = params_count(&config);
    run->params = (Param *)check_doubles(check, (size_t)run->param_count * sizeof(Param));
    params_describe(run->params, &config);
    return run;
}

/* What everything takes at the peak of a step, moments apart. */
static inline size_t peak_of(const ModelConfig *config, int B, int T, Checkpoint checkpoint,
                             bool gpu, MemoryUse *use) {
    *use = plain_use(config, B, T, open_device(1));
    use->bytes[MEMORY_ACTIVATIONS] = peak_activations(config, B, T, checkpoint);
    if (gpu) {
        use->bytes[MEMORY_WORKSPACE] = gpu_workspace(config);
    }
    return memory_total(use);
}

/* What a step takes at the most, and a few tensors more; a plain step takes `gap` bytes
   more than that, or more. */
static inline void set_budget(Run *run, size_t gap) {
    const ModelConfig *config = &run->config;
    const Batch *largest = &run->batch[0];
    MemoryUse use;
    size_t stream = (size_t)(largest->B * largest->T * config->C) * sizeof(float);
    size_t plain = peak_of(config, largest->B, largest->T, (Checkpoint){0}, run->gpu, &use);
    size_t states = run->passes > run->window ? 2 * use.bytes[MEMORY_GRADIENTS] : 0;
    run->budget =
        peak_of(config, largest->B, largest->T, run->checkpoint, run->gpu, &use) + states + stream;
    CHECK(run->budget + gap < plain + states, "a plain step nearly fits");
}

/* Two steps of two micro-batches: ragged, of several shapes, one without any target. On the CPU so
   large that what a plain step keeps finds no other place; in the simulator small, for the time. */
static inline Run *small_run(Check *check, int L, Checkpoint checkpoint, float dropout, bool gpu) {
    bool small = gpu || check_on_gpu();
    ModelConfig config = {
        .V = 256, .T = small ? 16 : 128, .L = L, .NH = 4, .C = small ? 32 : 96, .dropout = dropout};
    Run *run = run_new(check, config, checkpoint);
    run->gpu = small;
    run->closed = !small;
    run->passes = 4;
    run->window = 2;
    run->batch[0] = random_batch(check, config.V, small ? 3 : 4, config.T);
    for (int i = 1; i < run->passes; i++) {
        int B = check_int(check, 2, 3), T = check_int(check, config.T / 2 + 1, config.T);
        run->batch[i] = random_batch(check, config.V, B, T);
    }
    run->batch[2] = all_masked(run->batch[2]);
    set_budget(run, small ? 0 : 3 << 20);
    return run;
}

/* One step of two micro-batches, in memory that is closed. */
static inline Run *large_run(Check *check, ModelConfig config, Checkpoint checkpoint) {
    Run *run = run_new(check, config, checkpoint);
    run->gpu = check_on_gpu();
    run->closed = !run->gpu;
    run->passes = run->window = 2;
    for (int i = 0; i < run->passes; i++) {
        run->batch[i] = random_batch(check, config.V, 4, config.T);
    }
    set_budget(run, run->gpu ? 1 << 20 : 8 << 20);
    return run;
}

/* In the simulator shorter, for the time it takes. */
static inline ModelConfig large_config(void) {
    int T = check_on_gpu() ? 64 : 256;
    return (ModelConfig){.V = 256, .T = T, .L = 8, .NH = 4, .C = 128};
}

static inline void give_run(const Run *run) {
    int32_t options[OPTIONS] = {[OPTION_GPU] = run->gpu,
                                [OPTION_SEGMENT] = run->checkpoint.segment,
                                [OPTION_ATTENTION] = run->checkpoint.attention_only,
                                [OPTION_WINDOW] = run->window,
                                [OPTION_CLOSED] = run->closed,
                                [OPTION_ASK_SEGMENT] = run->choose > 0};
    uint64_t budget = run->budget, choose = run->choose;
    check_give_config(run->check, &run->config);
    give_batches(run->check, run->batch, run->passes);
    check_give(run->check, "options", WIRE_I32, options, OPTIONS);
    check_give(run->check, "budget", WIRE_U64, &budget, 1);
    check_give(run->check, "choose", WIRE_U64, &choose, 1);
    check_give(run->check, "seed", WIRE_U64, &run->seed, 1);
    check_give(run->check, "share", WIRE_F32, (float[]){(float)SHARE}, 1);
}

static inline void want_run(const Run *run) {
    char name[WIRE_NAME];
    check_want(run->check, "loss", WIRE_U64, (size_t)run->passes);
    check_want(run->check, "stream", WIRE_U64, (size_t)run->passes);
    check_want(run->check, "forwards", WIRE_U64, (size_t)run->passes);
    check_want_picture(run->check);
    for (int step = 0; step < run->passes / run->window; step++) {
        for (int i = 0; i < run->param_count; i++) {
            const Param *param = &run->params[i];
            check_want(run->check, param_name(name, NAME_GRADIENT, param, "step", step), WIRE_F32,
                       param->count);
        }
    }
}

#endif
