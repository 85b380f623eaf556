#include "common/optimizer.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "common/testkit/compare.h"

static const ModelConfig config = {.V = 256, .T = 5, .L = 1, .NH = 1, .C = 3};
static Device *device;
static Memory *memory;
static Model *model;

static void open_model(void) {
    device = device_cpu_new(64 << 20);
    memory = memory_new(device, (MemoryOptions){.checked = true});
    model = model_new(&config, memory, 1);
}

static void close_model(void) {
    model_free(model);
    memory_free(memory);
    device_free(device);
}

static void fill_gradients(float value) {
    for (int i = 0; i < model->param_count; i++) {
        for (size_t j = 0; j < model->params[i].count; j++) {
            model->params[i].grad[j] = value; /* the CPU's memory is the host's */
        }
    }
}

Test(optimizer, decays_matrices_only, .init = open_model, .fini = close_model) {
    Optimizer *optimizer = optimizer_new(
        model, (AdamW){.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f, .weight_decay = 0.5f});
    for (int i = 0; i < model->param_count; i++) {
        for (size_t j = 0; j < model->params[i].count; j++) {
            ((float *)model->params[i].weight)[j] = 2;
        }
    }
    optimizer_step(optimizer, 0.1f); /* gradients are zero: only the decay moves anything */
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        float got = ((float *)param->weight)[0], want = param_is_matrix(param) ? 1.9f : 2;
        cr_assert_eq(got, want, "%s: %.9g", param->name, (double)got);
    }
    cr_assert_eq(optimizer->t, 1);
    optimizer_free(optimizer);
}

static int seen;

static void see(void *context, const Model *m) {
    cr_assert_eq(context, &seen);
    cr_assert_eq(m->params[0].grad[0], 1.0f);
    seen++;
}

Test(optimizer, shows_the_gradients_before_each_step, .init = open_model, .fini = close_model) {
    Optimizer *optimizer = optimizer_new(model, (AdamW){.beta1 = 0.9f, .beta2 = 0.95f});
    optimizer->before_step = see;
    optimizer->context = &seen;
    fill_gradients(1);
    optimizer_step(optimizer, 0);
    optimizer_step(optimizer, 0);
    cr_assert_eq(seen, 2);
    optimizer_free(optimizer);
}

Test(clip, scales_to_the_norm, .init = open_model, .fini = close_model) {
    double want = sqrt((double)model_param_elements(model)) * 0.01;
    fill_gradients(0.01f);
    float before = optimizer_clip(model, 0.1f), after = model_grad_norm(model);
    double limit = tolerance_of_model(F32).norm;
    cr_assert_float_eq(before, want, limit * want);
    cr_assert_float_eq(after, 0.1, limit * 0.1);
}

Test(clip, leaves_small_gradients_alone, .init = open_model, .fini = close_model) {
    fill_gradients(1e-5f);
    optimizer_clip(model, 1);
    cr_assert_eq(model->params[0].grad[0], 1e-5f);
    fill_gradients(3);
    optimizer_clip(model, 0);
    cr_assert_eq(model->params[0].grad[0], 3.0f);
}

Test(clip, hides_nothing, .init = open_model, .fini = close_model) {
    fill_gradients(1);
    model->params[2].grad[1] = NAN;
    cr_assert(isnan(optimizer_clip(model, 1)));
    cr_assert(isnan(model->params[0].grad[0]));
    fill_gradients(1);
    model->params[2].grad[1] = INFINITY;
    cr_assert(isinf(optimizer_clip(model, 1)));
    cr_assert(isnan(model->params[2].grad[1]));
}

Test(schedule, warms_up_and_decays) {
    Schedule s = {.decay = DECAY_COSINE, .learning_rate = 2, .warmup_steps = 4, .max_steps = 12};
    static const double want[] = {0.5, 1, 1.5, 2, 2, 1.923879533, 1.707106781, 1.382683432, 1};
    for (int i = 0; i < 9; i++) {
        double limit = tolerance_of_op(F32, 1).norm * want[i];
        cr_assert_float_eq(schedule_rate(&s), want[i], limit, "step %d: %g", i,
                           (double)schedule_rate(&s));
        schedule_tick(&s);
    }
    s.step = 12;
    cr_assert_eq(schedule_rate(&s), 0);
    s.step = 100;
    cr_assert_eq(schedule_rate(&s), 0);
    s = (Schedule){.decay = DECAY_LINEAR, .learning_rate = 2, .max_steps = 4, .step = 1};
    cr_assert_eq(schedule_rate(&s), 1.5f);
    s.decay = DECAY_CONSTANT;
    cr_assert_eq(schedule_rate(&s), 2.0f);
}

Test(schedule, degenerate_lengths) {
    Schedule s = {.decay = DECAY_COSINE, .learning_rate = 1, .warmup_steps = 3, .max_steps = 3};
    s.step = 2;
    cr_assert_eq(schedule_rate(&s), 1.0f);
    s.step = 3;
    cr_assert_eq(schedule_rate(&s), 0);
}
