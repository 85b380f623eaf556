#include "common/model.h"

#include <criterion/criterion.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "common/block.h"
#include "common/trainer.h"
#include "labs/00_bytes/contract.h"

enum { B = 3, T = 29 };
static int32_t tokens[B * T], targets[B * T];

static Batch batch_of(uint64_t seed) {
    Rng rng = rng_new(seed, RNG_DATA);
    Batch batch = {.B = B, .T = T, .tokens = tokens, .targets = targets};
    for (int i = 0; i < B * T; i++) {
        tokens[i] = (int32_t)rng_below(&rng, 256);
        targets[i] = i % 7 == 3 ? IGNORE_INDEX : (int32_t)rng_below(&rng, 256);
        batch.valid += targets[i] != IGNORE_INDEX;
    }
    return batch;
}

static ModelConfig config_of(Precision precision, Attention attention) {
    return (ModelConfig){.V = 256,
                         .T = 32,
                         .L = 3,
                         .NH = 3,
                         .C = 48,
                         .dropout = 0.2f,
                         .precision = precision,
                         .attention = attention};
}

/* All gradients after two passes, as one array; to be freed. */
typedef struct Gradients {
    float *values;
    size_t count;
    double loss;
} Gradients;

static void read_gradients(const Model *model, Gradients *gradients) {
    gradients->count = model_param_elements(model);
    gradients->values = malloc(gradients->count * sizeof(float));
    size_t at = 0;
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        device_download(model->device, gradients->values + at, param->grad,
                        param->count * sizeof(float));
        at += param->count;
    }
}

/* The same pass: by model.h's calls; by block.h's; by these, with each block run again, without its
   output and into new memory, before its backward. */
typedef enum PassWay { WHOLE, BY_BLOCKS, BLOCKS_AGAIN } PassWay;

static void spend_again(Model *model, int layer, const Real *in, Rng rng) {
    Rng after = model->rng;
    model->rng = rng;
    MemoryMark mark = memory_mark(model->memory);
    Block block = block_alloc(model, layer);
    block_forward(model, layer, NULL, in, &block);
    model->rng = after;
    block_backward(model, layer, model->pass.dx, in, &block);
    memory_release(model->memory, mark);
}

static double pass_by_blocks(Model *model, const Batch *batch, float dloss, PassWay way) {
    int L = model->config.L;
    Real *x[8];
    Block blocks[8];
    Rng rngs[8];
    model_begin(model, batch, true);
    x[0] = model_embed(model);
    for (int l = 0; l < L; l++) {
        x[l + 1] = model_boundary(model, l);
        blocks[l] = block_alloc(model, l);
        rngs[l] = model->rng;
        block_forward(model, l, x[l + 1], x[l], &blocks[l]);
    }
    double loss = model_head_forward(model, x[L]);
    model_head_backward(model, x[L], dloss);
    for (int l = L - 1; l >= 0; l--) {
        if (way == BLOCKS_AGAIN) {
            spend_again(model, l, x[l], rngs[l]);
        } else {
            block_backward(model, l, model->pass.dx, x[l], &blocks[l]);
        }
    }
    model_embed_backward(model);
    model_end(model);
    return loss;
}

static Gradients run(const ModelConfig *config, int threads, PassWay way) {
    omp_set_num_threads(threads);
    Device *device = device_cpu_new(256 << 20);
    Memory *memory = memory_new(device, (MemoryOptions){.checked = true});
    Model *model = model_new(config, memory, 17);
    Gradients gradients = {0};
    MemoryMark mark = memory_mark(memory);
    for (uint64_t pass = 0; pass < 2; pass++) {
        Batch batch = batch_of(pass);
        float dloss = 1.0f / (float)batch.valid;
        if (way != WHOLE) {
            gradients.loss += pass_by_blocks(model, &batch, dloss, way);
        } else {
            gradients.loss += model_forward(model, &batch);
            model_backward(model, dloss);
        }
    }
    cr_assert_eq(memory_mark(memory), mark, "a pass left tensors behind");
    cr_assert_eq(model->block_forwards, 2u * (unsigned)config->L * (way == BLOCKS_AGAIN ? 2 : 1));
    read_gradients(model, &gradients);
    model_free(model);
    memory_free(memory);
    device_free(device);
    return gradients;
}

static void expect_same_bits(const ModelConfig *config, int threads, PassWay way) {
    Gradients a = run(config, 1, WHOLE), b = run(config, threads, way);
    cr_assert_eq(a.loss, b.loss);
    cr_assert_arr_eq(a.values, b.values, a.count * sizeof(float), "%s, %d threads",
                     precision_name(config->precision), threads);
    free(a.values);
    free(b.values);
}

Test(model, same_bits_run_to_run_and_with_any_number_of_threads) {
    for (int i = 0; i < 6; i++) {
        ModelConfig config = config_of((Precision)(i % 3), (Attention)(i / 3));
        expect_same_bits(&config, 1, WHOLE);
        expect_same_bits(&config, 2, WHOLE);
        expect_same_bits(&config, 5, WHOLE);
    }
}

Test(model, same_bits_with_matrices_of_several_panels) {
    ModelConfig config = config_of(F32, ATTENTION_PLAIN);
    config.C = 256; /* four of them: a stride of 4 KiB, out of which products copy */
    config.NH = 4;
    expect_same_bits(&config, 2, WHOLE);
    config.precision = F16;
    expect_same_bits(&config, 3, WHOLE);
}

Test(model, block_by_block_is_the_whole) {
    ModelConfig config = config_of(F32, ATTENTION_PLAIN);
    expect_same_bits(&config, 2, BY_BLOCKS);
}

Test(model, a_block_may_run_again_without_its_output) {
    for (int attention = 0; attention < 2; attention++) {
        ModelConfig config = config_of(F32, (Attention)attention);
        expect_same_bits(&config, 2, BLOCKS_AGAIN);
    }
}

Test(model, evaluation_leaves_no_trace) {
    ModelConfig config = config_of(F32, ATTENTION_FLASH);
    Device *device = device_cpu_new(256 << 20);
    Memory *memory = memory_new(device, (MemoryOptions){.checked = true});
    Model *model = model_new(&config, memory, 17);
    Batch batch = batch_of(1);
    MemoryUse before = memory_now(memory);
    double first = model_evaluate(model, &batch), second = model_evaluate(model, &batch);
    MemoryUse after = memory_now(memory);
    cr_assert_eq(first, second);
    cr_assert_eq(model->rng.offset, 0);
    cr_assert_eq(model->block_forwards, 0);
    cr_assert_eq(memory_total(&before), memory_total(&after));
    cr_assert_eq(model_grad_norm(model), 0.0f);
    model_free(model);
    memory_free(memory);
    device_free(device);
}

/* Untrained, a model should know nothing: its loss is close to log(V). */
Test(model, starts_at_log_v) {
    ModelConfig config = config_of(F32, ATTENTION_PLAIN);
    Device *device = device_cpu_new(256 << 20);
    Memory *memory = memory_new(device, (MemoryOptions){.checked = true});
    Model *model = model_new(&config, memory, 17);
    Batch batch = batch_of(1);
    double loss = model_evaluate(model, &batch) / batch.valid;
    cr_assert_float_eq(loss, log(256), 0.05, "%g", loss);
    model_free(model);
    memory_free(memory);
    device_free(device);
}

static int between(Rng *rng, int low, int high) {
    return low + (int)rng_below(rng, (uint64_t)(high - low + 1));
}

/* Lab 00's formulas against what is counted, on shapes nobody chose. */
Test(model, predicted_bytes_are_counted_bytes) {
    Rng rng = rng_new(2026, RNG_DATA);
    Device *device = device_cpu_new(1u << 30);
    for (int i = 0; i < 80; i++) {
        ModelConfig config = {.V = between(&rng, 256, 600),
                              .T = between(&rng, 1, 70),
                              .L = between(&rng, 1, 5),
                              .NH = between(&rng, 1, 4),
                              .dropout = i % 2 ? 0.1f : 0,
                              .precision = (Precision)(i % 3),
                              .attention = (Attention)(i / 3 % 2)};
        config.C = config.NH * between(&rng, 1, 24);
        int sequences = between(&rng, 1, 5), length = between(&rng, 1, config.T);
        MemoryUse want, got = bytes_predict(&config, sequences, length, device);
        trainer_measure(&config, (Checkpoint){0}, sequences, length, device, &want);
        for (int kind = 0; kind < MEMORY_KINDS; kind++) {
            cr_assert_eq(got.bytes[kind], want.bytes[kind],
                         "shape %d (V %d T %d L %d NH %d C %d "
                         "%s, B %d, length %d), %s: predicted %zu, counted %zu",
                         i, config.V, config.T, config.L, config.NH, config.C,
                         precision_name(config.precision), sequences, length,
                         memory_kind_name((MemoryKind)kind), got.bytes[kind], want.bytes[kind]);
        }
    }
    device_free(device);
}
