/* Models and parts of models side by side. The contract is in parts.h. */
#include "common/testkit/parts.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "common/testkit/fixture.h"

enum { TOKENS = PARTS_B * PARTS_T };

PartBench bench_on(bool gpu) {
    PartBench bench = {.device = gpu ? device_gpu_new(ops_gpu) : device_cpu_new(256 << 20)};
    cr_assert_not_null(bench.device);
    return bench;
}

static Memory *next_memory(PartBench *bench) {
    MemoryOptions options = {.checked = !bench->device->simulated};
    return bench->memory[bench->models] = memory_new(bench->device, options);
}

Model *bench_model(PartBench *bench, const ModelConfig *config) {
    Model *model = model_new(config, next_memory(bench), PARTS_SEED);
    return bench->model[bench->models++] = model;
}

Model *bench_part(PartBench *bench, const ModelConfig *config, ModelPart part) {
    Model *model = model_new_part(config, &part, next_memory(bench), PARTS_SEED);
    return bench->model[bench->models++] = model;
}

void bench_close(PartBench *bench) {
    for (int i = 0; i < bench->models; i++) {
        model_free(bench->model[i]);
        memory_free(bench->memory[i]);
    }
    device_free(bench->device);
    cr_assert_eq(fixture_problems(), 0, "the simulated GPU has reported a problem");
}

ModelConfig parts_config(Precision precision, Attention attention) {
    return (ModelConfig){.V = 256,
                         .T = 16,
                         .L = PARTS_L,
                         .NH = PARTS_NH,
                         .C = PARTS_C,
                         .dropout = 0.2f,
                         .precision = precision,
                         .attention = attention};
}

Batch parts_batch(int micro) {
    static int32_t tokens[PARTS_MICRO][TOKENS], targets[PARTS_MICRO][TOKENS];
    Rng rng = rng_new((uint64_t)micro, RNG_DATA);
    Batch batch = {.B = PARTS_B, .T = PARTS_T, .tokens = tokens[micro], .targets = targets[micro]};
    for (int i = 0; i < TOKENS; i++) {
        tokens[micro][i] = (int32_t)rng_below(&rng, 256);
        targets[micro][i] = i % 5 == 3 ? IGNORE_INDEX : (int32_t)rng_below(&rng, 256);
        batch.valid += targets[micro][i] != IGNORE_INDEX;
    }
    return batch;
}

double passes_in_turn(Model *model, int count) {
    double loss = 0;
    for (int micro = 0; micro < count; micro++) {
        Batch batch = parts_batch(micro);
        loss += model_forward(model, &batch);
        model_backward(model, PARTS_SHARE);
    }
    return loss;
}

void hand_on(const Model *from, const void *sent, const Model *to, void *received, size_t bytes) {
    void *host = malloc(bytes);
    cr_assert_not_null(host);
    device_download(from->device, host, sent, bytes);
    device_upload(to->device, received, host, bytes);
    free(host);
}

float *numbers_of(const Model *model, const float *from, size_t count) {
    float *values = malloc(count * sizeof *values);
    cr_assert_not_null(values);
    device_download(model->device, values, from, count * sizeof *values);
    return values;
}

void expect_same_gradients(const Model *part, const Model *whole) {
    for (int i = 0; i < part->param_count; i++) {
        const Param *got = &part->params[i], *want = &whole->params[i];
        if (got->grad == NULL) {
            continue;
        }
        float *a = numbers_of(part, got->grad, got->count);
        float *b = numbers_of(whole, want->grad, want->count);
        cr_assert_arr_eq(a, b, got->count * sizeof *a, "%s, %s of layer %d", part->device->name,
                         got->name, got->layer);
        free(a);
        free(b);
    }
}

size_t elements_of(const Param *params, int first, int last) {
    size_t count = 0;
    for (int i = first; i < last; i++) {
        count += params[i].count;
    }
    return count;
}
