/* Lab 04's solution: the same bits as a plain step, on less memory, to the byte as predicted. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "common/optimizer.h"
#include "common/testkit/fixture.h"
#include "grader/judge_peak.h"
#include "labs/00_bytes/contract.h"
#include "labs/04_checkpoint/contract.h"

enum { L = 5, MOST_B = 3, MOST_T = 24, MICRO_BATCHES = 3, STEPS = 2 };

/* The results of a run. */
typedef struct PassOutcome {
    float *gradients; /* of all steps, one after the other; to be freed */
    size_t count;
    double loss[STEPS * MICRO_BATCHES];
    Rng rng;
    uint64_t block_forwards;
    size_t activations; /* at the peak */
} PassOutcome;

static ModelConfig config_of(Precision precision, Attention attention) {
    return (ModelConfig){.V = 256,
                         .T = MOST_T,
                         .L = L,
                         .NH = 2,
                         .C = 32,
                         .dropout = 0.3f,
                         .precision = precision,
                         .attention = attention};
}

/* Micro-batch 0 is ragged and masked, 1 has another shape, 2 no valid target at all. */
static Batch micro_batch(int i, int32_t *tokens, int32_t *targets) {
    Rng rng = rng_new(100 + (uint64_t)i, RNG_DATA);
    Batch batch = {
        .B = i == 1 ? 1 : MOST_B, .T = i == 1 ? 7 : MOST_T, .tokens = tokens, .targets = targets};
    for (int j = 0; j < batch.B * batch.T; j++) {
        int b = j / batch.T, t = j % batch.T;
        bool valid = i != 2 && t < batch.T >> b * 2 && rng_below(&rng, 5) > 0;
        tokens[j] = (int32_t)rng_below(&rng, 256);
        targets[j] = valid ? (int32_t)rng_below(&rng, 256) : IGNORE_INDEX;
        batch.valid += valid;
    }
    return batch;
}

static double pass(Model *model, const Batch *batch, float share, bool by_lab) {
    double loss = by_lab ? checkpoint_forward(model, batch) : model_forward(model, batch);
    by_lab ? checkpoint_backward(model, share) : model_backward(model, share);
    return loss;
}

static void read_gradients(const Model *model, float *to) {
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        device_download(model->device, to, param->grad, param->count * sizeof *to);
        to += param->count;
    }
}

/* Steps with clipping, so that the weights of the second are new ones. */
static PassOutcome run(Device *device, const ModelConfig *config, Checkpoint checkpoint,
                       bool by_lab) {
    int32_t tokens[MOST_B * MOST_T], targets[MOST_B * MOST_T];
    Memory *memory = memory_new(device, (MemoryOptions){.checked = !device->simulated});
    Model *model = model_new(config, memory, 11);
    Optimizer *optimizer = NULL;
    if (config->precision == F32) {
        optimizer = optimizer_new(model, (AdamW){.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f});
    }
    PassOutcome outcome = {.count = STEPS * model_param_elements(model)};
    outcome.gradients = malloc(outcome.count * sizeof *outcome.gradients);
    cr_assert_not_null(outcome.gradients);
    model->checkpoint = checkpoint;
    MemoryMark mark = memory_mark(memory);
    for (int i = 0; i < STEPS * MICRO_BATCHES; i++) {
        Batch batch = micro_batch(i % MICRO_BATCHES, tokens, targets);
        outcome.loss[i] = pass(model, &batch, 1.0f / 64, by_lab);
        cr_assert_eq(memory_mark(memory), mark, "a pass left tensors behind");
        if (i % MICRO_BATCHES == MICRO_BATCHES - 1) {
            size_t half = outcome.count / STEPS * (size_t)(i / MICRO_BATCHES);
            optimizer_clip(model, 0.1f);
            read_gradients(model, outcome.gradients + half);
            if (optimizer != NULL) {
                optimizer_step(optimizer, 1e-2f);
            }
            model_zero_grad(model);
        }
    }
    outcome.rng = model->rng;
    outcome.block_forwards = model->block_forwards;
    outcome.activations = memory_peak(memory).bytes[MEMORY_ACTIVATIONS];
    optimizer_free(optimizer);
    model_free(model);
    memory_free(memory);
    return outcome;
}

static void expect_same(const PassOutcome *a, const PassOutcome *b, Checkpoint checkpoint,
                        const char *name) {
    cr_assert_arr_eq(a->gradients, b->gradients, a->count * sizeof *a->gradients,
                     "%s, segment %d%s: other gradients", name, checkpoint.segment,
                     checkpoint.attention_only ? ", attention only" : "");
    cr_assert_arr_eq(a->loss, b->loss, sizeof a->loss);
    cr_assert_eq(a->rng.offset, b->rng.offset, "the dropout stream ends elsewhere");
    cr_assert_gt(a->gradients[0] * a->gradients[0] + a->gradients[1] * a->gradients[1], 0);
}

static const Checkpoint all_checkpoints[] = {
    {.segment = 1}, {.segment = 2}, {.segment = 3},           {.segment = 4},
    {.segment = 5}, {.segment = 9}, {.attention_only = true}, {2, true},
};
enum { CHECKPOINTS = sizeof all_checkpoints / sizeof *all_checkpoints };

/* Blocks before the last segment. */
static unsigned again(int S) {
    return S > 0 && S < L ? (unsigned)((L - 1) / S * S) : 0;
}

static void same_bits_on(Device *device, const ModelConfig *config, int step) {
    PassOutcome plain = run(device, config, (Checkpoint){0}, false);
    for (int i = 0; i < CHECKPOINTS; i += step) {
        PassOutcome less = run(device, config, all_checkpoints[i], true);
        expect_same(&plain, &less, all_checkpoints[i], precision_name(config->precision));
        unsigned want = STEPS * MICRO_BATCHES * (L + again(all_checkpoints[i].segment));
        cr_assert_eq(less.block_forwards, want, "segment %d: %u block forwards",
                     all_checkpoints[i].segment, (unsigned)less.block_forwards);
        free(less.gradients);
    }
    free(plain.gradients);
}

Test(checkpoint, same_bits_as_a_plain_step) {
    for (int i = 0; i < 6; i++) {
        ModelConfig config = config_of((Precision)(i % 3), (Attention)(i / 3));
        Device *device = device_cpu_new(256 << 20);
        same_bits_on(device, &config, 1);
        device_free(device);
    }
}

Test(checkpoint, same_bits_without_dropout) {
    ModelConfig config = config_of(F32, ATTENTION_PLAIN);
    config.dropout = 0;
    Device *device = device_cpu_new(256 << 20);
    same_bits_on(device, &config, 1);
    device_free(device);
}

Test(checkpoint, same_bits_on_the_gpu, .timeout = 60) {
    ModelConfig config = config_of(F32, ATTENTION_PLAIN);
    Device *device = device_gpu_new(ops_gpu);
    cr_assert_not_null(device);
    same_bits_on(device, &config, 3);
    device_free(device);
    cr_assert_eq(fixture_problems(), 0);
}

/* A pass that only looks does not disturb one that checkpoints: nothing is left between passes. */
Test(checkpoint, evaluating_between_passes_changes_nothing) {
    int32_t tokens[MOST_B * MOST_T], targets[MOST_B * MOST_T];
    ModelConfig config = config_of(F32, ATTENTION_PLAIN);
    Device *device = device_cpu_new(256 << 20);
    Memory *memory = memory_new(device, (MemoryOptions){.checked = true});
    Model *model = model_new(&config, memory, 3);
    Batch batch = micro_batch(0, tokens, targets);
    model->checkpoint = (Checkpoint){.segment = 2};
    double before = model_evaluate(model, &batch);
    pass(model, &batch, 1, true);
    cr_assert_eq(model_evaluate(model, &batch), before);
    model_free(model);
    memory_free(memory);
    device_free(device);
}

/* ---- bytes ----------------------------------------------------------------------------------- */

static size_t counted(const ModelConfig *config, int B, int T, Checkpoint checkpoint) {
    int32_t *ids = calloc((size_t)(B * T), sizeof *ids);
    Batch batch = {.B = B, .T = T, .tokens = ids, .targets = ids, .valid = B * T};
    Device *device = device_cpu_new((size_t)1 << 30);
    Memory *memory = memory_new(device, (MemoryOptions){0});
    Model *model = model_new(config, memory, 0);
    model->checkpoint = checkpoint;
    pass(model, &batch, 0, true);
    size_t bytes = memory_peak(memory).bytes[MEMORY_ACTIVATIONS];
    model_free(model);
    memory_free(memory);
    device_free(device);
    free(ids);
    return bytes;
}

Test(checkpoint, predicted_bytes_are_counted_bytes, .timeout = 60) {
    Rng rng = rng_new(5, RNG_DATA);
    for (int i = 0; i < 60; i++) {
        ModelConfig config = config_of((Precision)(i % 3), (Attention)(i / 3 % 2));
        config.V = 256 + (int)rng_below(&rng, 300);
        config.L = 1 + (int)rng_below(&rng, 8);
        config.NH = 1 + (int)rng_below(&rng, 3);
        config.C = config.NH * (4 + (int)rng_below(&rng, 40));
        Checkpoint checkpoint = {(int)rng_below(&rng, (uint64_t)config.L + 2), rng_below(&rng, 2)};
        int B = 1 + (int)rng_below(&rng, 3), T = 1 + (int)rng_below(&rng, MOST_T);
        cr_assert_eq(checkpoint_bytes(&config, B, T, checkpoint),
                     counted(&config, B, T, checkpoint),
                     "%s V %d L %d C %d NH %d, (%d, %d), segment %d, attention only %d",
                     precision_name(config.precision), config.V, config.L, config.C, config.NH, B,
                     T, checkpoint.segment, checkpoint.attention_only);
    }
}

Test(checkpoint, without_segments_the_bytes_are_those_of_lab_00) {
    ModelConfig config = config_of(F16, ATTENTION_PLAIN);
    size_t plain = bytes_activations(&config, 3, 20);
    cr_assert_eq(checkpoint_bytes(&config, 3, 20, (Checkpoint){0}), plain);
    cr_assert_eq(checkpoint_bytes(&config, 3, 20, (Checkpoint){.segment = L}), plain);
    cr_assert_lt(checkpoint_bytes(&config, 3, 20, (Checkpoint){.attention_only = true}), plain);
}

/* Judges have no solution to ask. */
Test(checkpoint, judges_work_out_the_same_bytes) {
    for (int i = 0; i < 2 * 3 * 2 * (L + 1); i++) {
        int j = i / (L + 1);
        ModelConfig config = config_of((Precision)(j / 2 % 3), (Attention)(j / 6));
        Checkpoint checkpoint = {.segment = i % (L + 1), .attention_only = j % 2 != 0};
        config.C = i % 3 == 0 ? 120 : 32; /* a block's backward is larger than the head, or not */
        cr_assert_eq(peak_activations(&config, 2, 17, checkpoint),
                     checkpoint_bytes(&config, 2, 17, checkpoint), "case %d", i);
    }
}

/* GPT-2's largest shape does not overflow. */
Test(checkpoint, large_shapes) {
    ModelConfig config = {.V = 50257, .T = 1024, .L = 48, .NH = 25, .C = 1600};
    size_t plain = checkpoint_bytes(&config, 16, 1024, (Checkpoint){0});
    size_t less = checkpoint_bytes(&config, 16, 1024, (Checkpoint){.segment = 1});
    cr_assert_gt(plain, (size_t)100 << 30);
    cr_assert_lt(less, plain / 10);
}

Test(checkpoint, segment_for_a_budget) {
    ModelConfig config = config_of(F32, ATTENTION_FLASH);
    config.L = 12;
    for (int chosen = 1; chosen <= config.L; chosen++) {
        size_t budget = checkpoint_bytes(&config, 3, MOST_T, (Checkpoint){.segment = chosen});
        int S = checkpoint_segment(&config, 3, MOST_T, budget);
        size_t bytes = checkpoint_bytes(&config, 3, MOST_T, (Checkpoint){.segment = S});
        cr_assert_leq(bytes, budget);
        for (int other = 1; other <= config.L; other++) {
            size_t takes = checkpoint_bytes(&config, 3, MOST_T, (Checkpoint){.segment = other});
            int runs = (config.L - 1) / other * other, best = (config.L - 1) / S * S;
            cr_assert(takes > budget || runs > best || (runs == best && takes >= bytes),
                      "budget %zu: %d is better than %d", budget, other, S);
        }
    }
    size_t least = checkpoint_bytes(&config, 3, MOST_T, (Checkpoint){.segment = 1});
    cr_assert_eq(checkpoint_segment(&config, 3, MOST_T, 0), 0);
    cr_assert_eq(checkpoint_segment(&config, 3, MOST_T, least - 1), 0);
    cr_assert_eq(checkpoint_segment(&config, 3, MOST_T, SIZE_MAX), config.L);
}
