#include "grader/labs/04_checkpoint/run.h"

#include <math.h>
#include <string.h>

/* ---- what is given --------------------------------------------------------------------------- */

/* Rows of very different lengths. */
static Batch run_batch(Check *check, int V, int B, int T) {
    Batch batch = batch_full(check, V, B, T);
    for (int b = 0; b < B; b++) {
        batch_cut_row(check, &batch, b, T >> 2 * b);
    }
    return batch;
}

static CheckpointRun *run_new(Check *check, ModelConfig config, Checkpoint checkpoint) {
    CheckpointRun *run = (CheckpointRun *)check_doubles(check, sizeof(CheckpointRun));
    *run = (CheckpointRun){.check = check,
                           .config = config,
                           .checkpoint = checkpoint,
                           .seed = (uint64_t)check_int(check, 1, 1 << 30)};
    run->param_count = params_count(&config);
    run->params = (Param *)check_doubles(check, (size_t)run->param_count * sizeof(Param));
    params_describe(run->params, &config);
    return run;
}

size_t run_peak(const ModelConfig *config, int B, int T, Checkpoint checkpoint, bool gpu,
                MemoryUse *use) {
    /* Each number of an activation belongs to one of the sequences: one is measured. */
    *use = peak_plain(config, 1, T, check_threads());
    use->bytes[MEMORY_ACTIVATIONS] = (size_t)B * peak_activations(config, 1, T, checkpoint);
    use->bytes[MEMORY_DATA] *= (size_t)B;
    if (gpu) {
        use->bytes[MEMORY_WORKSPACE] = judge_gpu_workspace(config);
    }
    return memory_total(use);
}

/* The most that a step takes, to the byte: one tensor more does not fit. A plain step takes `gap`
   bytes more than that, or more. */
static void run_set_budget(CheckpointRun *run, size_t gap) {
    const ModelConfig *config = &run->config;
    const Batch *largest = &run->batch[0];
    MemoryUse use;
    size_t plain = run_peak(config, largest->B, largest->T, (Checkpoint){0}, run->gpu, &use);
    /* Moments, and on the CPU, where the workspace is that of a model alone, the optimizer's lists
       of weights and moments. */
    size_t states =
        2 * use.bytes[MEMORY_GRADIENTS] + (run->gpu ? 0 : 3 * workspace_list_bytes(config));
    states = run->passes > run->window ? states : 0;
    run->budget =
        run_peak(config, largest->B, largest->T, run->checkpoint, run->gpu, &use) + states;
    CHECK(run->budget + gap < plain + states, "a plain step nearly fits");
}

CheckpointRun *run_small(Check *check, int L, Checkpoint checkpoint, float dropout, bool gpu) {
    bool small = gpu || check_on_gpu();
    ModelConfig config = {
        .V = 256, .T = small ? 16 : 128, .L = L, .NH = 4, .C = small ? 32 : 96, .dropout = dropout};
    CheckpointRun *run = run_new(check, config, checkpoint);
    run->gpu = small;
    run->closed = !small;
    run->passes = 4;
    run->window = 2;
    run->batch[0] = run_batch(check, config.V, small ? 3 : 4, config.T);
    for (int i = 1; i < run->passes; i++) {
        int B = check_int(check, 2, 3), T = check_int(check, config.T / 2 + 1, config.T);
        run->batch[i] = run_batch(check, config.V, B, T);
    }
    run->batch[2] = batch_all_masked(run->batch[2]);
    run_set_budget(run, small ? 0 : 3 << 20);
    return run;
}

CheckpointRun *run_large(Check *check, ModelConfig config, Checkpoint checkpoint) {
    CheckpointRun *run = run_new(check, config, checkpoint);
    run->gpu = check_on_gpu();
    run->closed = !run->gpu;
    run->passes = run->window = 2;
    for (int i = 0; i < run->passes; i++) {
        run->batch[i] = run_batch(check, config.V, RUN_LARGE_BATCH, config.T);
    }
    run_set_budget(run, run->gpu ? 1 << 19 : 8 << 20);
    return run;
}

OtherModel *run_add_other(CheckpointRun *run, ModelConfig config, Checkpoint checkpoint) {
    MemoryUse use;
    if (run->gpu) {
        return NULL; /* its ops in half and in flash attention are those of other labs */
    }
    config.V = 256;
    config.T = OTHER_T;
    config.NH = 2;
    /* With flash attention so wide that a block's backward is the peak, not the head's. */
    config.C = config.attention == ATTENTION_FLASH ? 96 : 6;
    size_t budget = run_peak(&config, OTHER_B, OTHER_T, checkpoint, false, &use);
    CHECK(run->others < MOST_OTHERS, "more than %d other models", MOST_OTHERS);
    run->other[run->others] = (OtherModel){config, checkpoint, {0}, budget, budget};
    return &run->other[run->others++];
}

void run_add_changing(CheckpointRun *run, ModelConfig config, Checkpoint checkpoint,
                      Checkpoint before) {
    MemoryUse use;
    OtherModel *other = run_add_other(run, config, checkpoint);
    if (other != NULL) {
        size_t budget = run_peak(&other->config, OTHER_B, OTHER_T, before, false, &use);
        other->before = before;
        other->budget = other->budget > budget ? other->budget : budget;
    }
}

ModelConfig run_large_config(void) {
    int T = check_on_gpu() ? 64 : 256;
    return (ModelConfig){.V = 256, .T = T, .L = 8, .NH = 4, .C = 128};
}

void run_give(const CheckpointRun *run) {
    int32_t options[OPTIONS] = {[OPTION_GPU] = run->gpu,
                                [OPTION_SEGMENT] = run->checkpoint.segment,
                                [OPTION_ATTENTION] = run->checkpoint.attention_only,
                                [OPTION_WINDOW] = run->window,
                                [OPTION_CLOSED] = run->closed,
                                [OPTION_THREADS] = check_threads(),
                                [OPTION_ASK_SEGMENT] = run->choose > 0};
    uint64_t budget = run->budget, choose = run->choose;
    check_give_config(run->check, &run->config);
    batches_give(run->check, run->batch, run->passes);
    check_give(run->check, "options", WIRE_I32, options, OPTIONS);
    check_give(run->check, "budget", WIRE_U64, &budget, 1);
    check_give(run->check, "choose", WIRE_U64, &choose, 1);
    check_give(run->check, "seed", WIRE_U64, &run->seed, 1);
    check_give(run->check, "others", WIRE_BYTES, run->other,
               (size_t)run->others * sizeof *run->other);
    check_give(run->check, "share", WIRE_F32, (float[]){(float)RUN_SHARE}, 1);
}

void run_want(const CheckpointRun *run) {
    char name[WIRE_NAME];
    check_want(run->check, "loss", WIRE_U64, (size_t)run->passes);
    check_want(run->check, "stream", WIRE_U64, (size_t)run->passes);
    check_want(run->check, "others", WIRE_U64, (size_t)run->others * OTHER_RESULTS);
    check_want_picture(run->check);
    for (int step = 0; step < run->passes / run->window; step++) {
        for (int i = 0; i < run->param_count; i++) {
            const Param *param = &run->params[i];
            check_want(run->check, param_name(name, NAME_GRADIENT, param, "step", step), WIRE_F32,
                       param->count);
        }
    }
}
