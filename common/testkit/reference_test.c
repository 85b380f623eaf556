/* The reference against finite differences, and the kit's model against the reference. */
#include "common/testkit/reference.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/model.h"
#include "common/testkit/compare.h"
#include "common/testkit/fixture.h"
#include "common/trainer.h"

/* Hostile: odd sizes, ragged and masked targets, one sequence without any. */
enum { B = 3, T = 19 };
static const ModelConfig config = {.V = 256, .T = 21, .L = 3, .NH = 3, .C = 33, .dropout = 0.3f};
static int32_t tokens[B * T], targets[B * T];

static Batch hostile_batch(void) {
    static const int length[B] = {T, 4, 0};
    Rng rng = rng_new(11, RNG_DATA);
    Batch batch = {.B = B, .T = T, .tokens = tokens, .targets = targets};
    for (int i = 0; i < B * T; i++) {
        bool valid = i % T < length[i / T] && i % 5 != 2;
        tokens[i] = (int32_t)rng_below(&rng, 60);
        targets[i] = valid ? (int32_t)rng_below(&rng, 256) : IGNORE_INDEX;
        batch.valid += valid;
    }
    return batch;
}

/* Larger than at the start of training, so that no gradient is close to nothing. */
static Reference *random_reference(const ModelConfig *shape) {
    Reference *reference = reference_new(shape);
    Rng rng = rng_new(5, RNG_WEIGHTS);
    for (int i = 0; i < reference->param_count; i++) {
        for (size_t j = 0; j < reference->params[i].count; j++) {
            float x;
            rng_normal(&rng, &x, 1, 0.2f);
            reference->weight[i][j] = (double)x + (reference->params[i].init == INIT_ONE);
        }
    }
    return reference;
}

Test(reference, gradients_are_finite_differences) {
    Batch batch = hostile_batch();
    Reference *reference = random_reference(&config);
    Rng rng = rng_new(3, RNG_DATA);
    const double step = 1e-4, dloss = 0.7;
    reference_pass(reference, &batch, dloss, 9, 100);
    for (int i = 0; i < reference->param_count; i++) {
        double largest = 0;
        for (size_t j = 0; j < reference->params[i].count; j++) {
            largest = fmax(largest, fabs(reference->grad[i][j]));
        }
        for (int sample = 0; sample < 4; sample++) {
            size_t j = rng_below(&rng, reference->params[i].count);
            double *weight = &reference->weight[i][j], at = *weight, loss[2];
            for (int side = 0; side < 2; side++) {
                *weight = at + (side ? step : -step);
                loss[side] = reference_pass(reference, &batch, 0, 9, 100);
            }
            *weight = at;
            double want = dloss * (loss[1] - loss[0]) / (2 * step), got = reference->grad[i][j];
            cr_assert(fabs(got - want) <= 1e-5 * fmax(largest, 1e-3), "%s (layer %d) [%zu]: %g, %g",
                      reference->params[i].name, reference->params[i].layer, j, got, want);
        }
    }
    reference_free(reference);
}

Test(reference, gradients_add_up) {
    Batch batch = hostile_batch();
    Reference *once = random_reference(&config), *twice = random_reference(&config);
    reference_pass(once, &batch, 1, 9, 0);
    reference_pass(twice, &batch, 0.5, 9, 0);
    reference_pass(twice, &batch, 0.5, 9, 0);
    for (int i = 0; i < once->param_count; i++) {
        for (size_t j = 0; j < once->params[i].count; j++) {
            double a = once->grad[i][j], b = twice->grad[i][j];
            cr_assert(fabs(a - b) <= tolerance_of_double() * fmax(1, fabs(a)));
        }
    }
    reference_free(once);
    reference_free(twice);
}

/* A model with the reference's weights, rounded to its precision, and the reference with these. */
static Model *model_like(Reference *reference, Memory *memory, const ModelConfig *shape) {
    Model *model = model_new(shape, memory, 9);
    for (int i = 0; i < model->param_count; i++) {
        size_t count = model->params[i].count;
        float *values = malloc(count * sizeof *values);
        for (size_t j = 0; j < count; j++) {
            values[j] = (float)reference->weight[i][j];
        }
        model_upload_weight(model, &model->params[i], values);
        model_download_weight(model, &model->params[i], values);
        for (size_t j = 0; j < count; j++) {
            reference->weight[i][j] = (double)values[j];
        }
        free(values);
    }
    return model;
}

static void check_gradients(const Model *model, const Reference *reference) {
    char text[COMPARISON_TEXT];
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        float *grad = malloc(param->count * sizeof *grad);
        device_download(model->device, grad, param->grad, param->count * sizeof *grad);
        Comparison c = compare(grad, reference->grad[i], param->count,
                               tolerance_of_model(model->config.precision));
        cr_assert(c.pass, "%s, %s attention, %s, layer %d: %s", model->device->name,
                  model->config.attention == ATTENTION_PLAIN ? "plain" : "flash",
                  precision_name(model->config.precision), param->layer,
                  comparison_text(&c, param->name, text));
        if (getenv("SHOW_SHARES") != NULL) {
            fprintf(stderr, "share %.3f %s %s layer %d\n", c.share,
                    precision_name(model->config.precision), param->name, param->layer);
        }
        free(grad);
    }
}

/* Two passes with different upstream gradients, so that what one leaves behind shows. */
static void check_on(bool gpu, Precision precision, Attention attention, float dropout) {
    Batch batch = hostile_batch();
    ModelConfig shape = config;
    shape.precision = precision;
    shape.attention = attention;
    shape.dropout = dropout;
    Reference *reference = random_reference(&shape);
    Device *device = gpu ? device_gpu_new(ops_gpu) : device_cpu_new(256 << 20);
    cr_assert_not_null(device);
    Memory *memory = memory_new(device, (MemoryOptions){.checked = !device->simulated});
    Model *model = model_like(reference, memory, &shape);
    uint64_t counters = reference_pass_counters(&shape, B * T);
    for (int pass = 0; pass < 2; pass++) {
        float dloss = pass == 0 ? 1.0f / (float)batch.valid : 1e-3f;
        double want =
            reference_pass(reference, &batch, (double)dloss, 9, counters * (uint64_t)pass);
        double got = model_forward(model, &batch);
        double limit = tolerance_of_loss(precision) * want;
        cr_assert(fabs(got - want) <= limit, "%s: loss %.9g, want %.9g", precision_name(precision),
                  got, want);
        if (getenv("SHOW_SHARES") != NULL) {
            fprintf(stderr, "share %.3f %s loss\n", fabs(got - want) / limit,
                    precision_name(precision));
        }
        model_backward(model, dloss);
    }
    cr_assert_eq(model->rng.offset, 2 * counters);
    check_gradients(model, reference);
    reference_free(reference);
    model_free(model);
    memory_free(memory);
    device_free(device);
    cr_assert_eq(fixture_problems(), 0);
}

static void check_model(Precision precision, Attention attention, float dropout) {
    check_on(false, precision, attention, dropout);
    check_on(true, precision, attention, dropout);
}

Test(model, gradients_f32) {
    check_model(F32, ATTENTION_PLAIN, 0.3f);
    check_model(F32, ATTENTION_FLASH, 0.3f);
    check_model(F32, ATTENTION_PLAIN, 0);
}

Test(model, gradients_f16) {
    check_model(F16, ATTENTION_PLAIN, 0.3f);
    check_model(F16, ATTENTION_FLASH, 0);
}

Test(model, gradients_bf16) {
    check_model(BF16, ATTENTION_PLAIN, 0.3f);
    check_model(BF16, ATTENTION_FLASH, 0);
}
