#include "grader/labs/10_lora/run.h"

#include <stdlib.h>
#include <string.h>

#include "grader/judge_kit.h"
#include "grader/labs/10_lora/layer.h"

enum { RUN_SECONDS = 40 };

size_t base_place(const ModelConfig *config, int i) {
    Param *params = calloc((size_t)params_count(config), sizeof *params);
    CHECK(params != NULL, "no memory for parameters");
    params_describe(params, config);
    size_t place = protocol_numbers(params, i);
    free(params);
    return place;
}

size_t lora_place(const LoraRun *run, int layer, LinearId id, int which) {
    int before = 0, each = run->count / run->config.L;
    for (int other = 0; other < (int)id; other++) {
        before += run->config.adapter.targets >> other & 1;
    }
    return protocol_numbers(run->params, layer * each + 2 * before + which);
}

static void read_weights(LoraRun *run) {
    ModelConfig bare = run->config;
    bare.adapter = (Adapter){0};
    Model *model = judge_model_open(judge_device(1), &bare, run->seed);
    run->weights = (float *)check_doubles(run->check, run->base);
    float *to = run->weights;
    for (int i = 0; i < model->param_count; i++) {
        model_download_weight(model, &model->params[i], to);
        to += model->params[i].count;
    }
    judge_model_close(model);
}

LoraRun lora_run(Check *check, unsigned targets, float dropout, bool fresh, int C) {
    LoraRun run = {.check = check, .fresh = fresh, .passes = 2, .window = 2};
    run.gpu = check_on_gpu();
    run.seed = (uint64_t)check_int(check, 1, 1 << 30);
    run.config = (ModelConfig){.V = 256, .T = 12, .L = 2, .NH = 2};
    run.config.C = C > 0 ? C : 2 * check_int(check, 7, 11);
    run.config.adapter = layer_adapter(check, targets, dropout);
    run.count = adapters_count(&run.config);
    run.params = (Param *)check_doubles(check, (size_t)run.count * sizeof(Param));
    adapters_describe(run.params, &run.config);
    run.numbers = protocol_numbers(run.params, run.count);
    run.base = base_place(&run.config, params_count(&run.config));
    if (!fresh) { /* of a wide model smaller ones: large scores would magnify rounding errors */
        run.adapters = check_normal(check, run.numbers, C > 0 ? 0.05 : 0.2, F32);
    }
    for (int i = 0; i < RUN_BATCHES; i++) {
        run.batch[i] = batch_uneven(check, run.config.V, 2 + i, check_int(check, 8, 12));
    }
    read_weights(&run);
    return run;
}

static void lora_want(const LoraRun *run) {
    char name[WIRE_NAME];
    size_t V = (size_t)run->config.V, B = (size_t)run->batch[0].B;
    check_want(run->check, "loss", WIRE_U64, (size_t)run->passes);
    check_want(run->check, "stream", WIRE_U64, (size_t)run->passes);
    check_want(run->check, "logits", WIRE_F32, B * V);
    check_want(run->check, "base", WIRE_F32, run->base);
    check_want(run->check, "trained", WIRE_F32, run->numbers);
    const Param *param = run->params;
    for (int at = 0; at < run->config.L * BLOCK_LINEARS; at++) {
        LinearId id = (LinearId)(at % BLOCK_LINEARS);
        for (int which = 0; which < 2 && run->config.adapter.targets >> id & 1; which++) {
            check_want(run->check, protocol_name(name, "d", at / BLOCK_LINEARS, id, which),
                       WIRE_F32, param++->count);
        }
    }
}

void lora_give(LoraRun *run) {
    Check *check = run->check;
    int32_t options[RUN_NUMBERS] = {
        [RUN_GPU] = run->gpu,     [RUN_PASSES] = run->passes,   [RUN_WINDOW] = run->window,
        [RUN_FRESH] = run->fresh, [RUN_SEGMENT] = run->segment, [RUN_DROP] = run->drop};
    uint64_t budget = run->budget;
    check_give_config(check, &run->config);
    check_give(check, "seed", WIRE_U64, &run->seed, 1);
    check_give(check, "options", WIRE_I32, options, RUN_NUMBERS);
    check_give(check, "budget", WIRE_U64, &budget, 1);
    check_give(check, "share", WIRE_F32, (float[]){(float)LORA_SHARE}, 1);
    if (!run->fresh) {
        check_give(check, "adapters", WIRE_F32, run->adapters, run->numbers);
    }
    batches_give(check, run->batch, RUN_BATCHES);
    lora_want(run);
    if (run->gpu) {
        check_memory(check, 0);
    }
}

bool lora_start_bare(LoraRun *run) {
    return check_run_kit(run->check, "bare", RUN_SECONDS);
}

bool lora_start(LoraRun *run, const char *probe_case) {
    return check_run(run->check, probe_case, RUN_SECONDS);
}

void lora_expect_scratch(const LoraRun *run) {
    static const char *const words[] = {
        "forward: the branch, u, and where a mask is drawn the input under it",
        "backward: u, its gradient, and where a mask was drawn the input under it"};
    static const char *const names[] = {"lora_forward()", "lora_backward()"};
    const uint64_t *seen = check_got(run->check, "scratch", WIRE_U64);
    for (int i = 0; i < 2; i++) {
        if (seen[SCRATCH_BEYOND + i] > 0) {
            check_fail(run->check, "a layer took %llu bytes of scratch beyond those of its %s",
                       (unsigned long long)seen[SCRATCH_BEYOND + i], words[i]);
        } else if (seen[SCRATCH_OTHER + i] > 0) {
            check_fail(run->check,
                       "%s took %llu bytes of another kind: scratch is of kind MEMORY_ACTIVATIONS",
                       names[i], (unsigned long long)seen[SCRATCH_OTHER + i]);
        } else if (seen[SCRATCH_LEFT + i] > 0) {
            check_fail(run->check,
                       "after %s %llu bytes of its scratch are still taken: memory_release()",
                       names[i], (unsigned long long)seen[SCRATCH_LEFT + i]);
        }
    }
}
