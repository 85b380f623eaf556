#include "grader/labs/05_fp16/mixed_trial.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "common/testkit/replay.h"
#include "kernels/half.h"
#include "train/techniques.h"

Trial trial;

const ModelConfig trial_shape = {
    .V = 256, .T = TRIAL_T, .L = 2, .NH = 2, .C = 16, .dropout = 0.1f, .precision = F16};
static const AdamW adamw = {.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f, .weight_decay = 0.1f};

static int32_t tokens[TRIAL_MICROS][TRIAL_B * TRIAL_T], targets[TRIAL_MICROS][TRIAL_B * TRIAL_T];

static void make_batches(void) {
    Rng rng = rng_new(3, RNG_DATA);
    for (int k = 0; k < TRIAL_MICROS; k++) {
        trial.batch[k] =
            (Batch){.B = TRIAL_B, .T = TRIAL_T, .tokens = tokens[k], .targets = targets[k]};
        for (int i = 0; i < TRIAL_B * TRIAL_T; i++) {
            bool valid = k != 1 && i % TRIAL_T < TRIAL_T - i / TRIAL_T - k && i % 5 != 3;
            tokens[k][i] = (int32_t)rng_below(&rng, 256);
            targets[k][i] = valid ? (int32_t)rng_below(&rng, 256) : IGNORE_INDEX;
            trial.batch[k].valid += valid;
        }
    }
}

void trial_open_on(Device *where, ModelConfig config) {
    make_batches();
    trial.device = where;
    cr_assert_not_null(trial.device);
    trial.memory = memory_new(trial.device, (MemoryOptions){.checked = !trial.device->simulated});
    mixed_init(&trial.mixed, config.precision);
    trial.trainer =
        (Trainer){.model = model_new(&config, trial.memory, 7),
                  .schedule = {.learning_rate = 1e-2f, .warmup_steps = 2, .max_steps = 50},
                  .max_grad_norm = 0.5f,
                  .mixed = &trial.mixed};
    techniques_set(&trial.trainer);
    trial.trainer.optimizer = optimizer_new(trial.trainer.model, adamw);
    trial.P = model_param_elements(trial.trainer.model);
}

void trial_close(void) {
    optimizer_free(trial.trainer.optimizer);
    model_free(trial.trainer.model);
    memory_free(trial.memory);
    device_free(trial.device);
}

void trial_open(void) {
    trial_open_on(device_cpu_new(64 << 20), trial_shape);
}

float *trial_states(void) {
    const Model *model = trial.trainer.model;
    const Optimizer *optimizer = trial.trainer.optimizer;
    float *all = malloc(4 * trial.P * sizeof *all), *to = all;
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        size_t n = param->count;
        model_download_weight(model, param, to);
        device_download(trial.device, to + n, optimizer->master[i], n * sizeof *to);
        device_download(trial.device, to + 2 * n, optimizer->m[i], n * sizeof *to);
        device_download(trial.device, to + 3 * n, optimizer->v[i], n * sizeof *to);
        to += 4 * n;
    }
    return all;
}

void trial_expect_clean(void) {
    float *grad = gradients_of(trial.trainer.model);
    for (size_t i = 0; i < trial.P; i++) {
        cr_assert_eq(grad[i], 0.0f, "gradient %zu is %g", i, (double)grad[i]);
    }
    free(grad);
}

void trial_expect_rounded(void) {
    const Model *model = trial.trainer.model;
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        size_t bytes = param->count * sizeof(float);
        float *weight = malloc(bytes), *master = malloc(bytes);
        model_download_weight(model, param, weight);
        device_download(trial.device, master, trial.trainer.optimizer->master[i], bytes);
        for (size_t j = 0; j < param->count; j++) {
            float want = precision_round(model->config.precision, master[j]);
            cr_assert_eq(float_bits(weight[j]), float_bits(want), "%s[%zu]", param->name, j);
        }
        free(weight);
        free(master);
    }
}

void trial_see(void *context, const Model *model) {
    (void)context;
    free(trial.seen);
    trial.seen = gradients_of(model);
}

StepReport trial_window(int k, int param, size_t index, float bad) {
    StepReport report = {0};
    int valid = 0;
    for (int i = 0; i < TRIAL_MICROS; i++) {
        valid += trial.batch[i].valid;
    }
    for (int i = 0; i < TRIAL_MICROS; i++) {
        report.loss += trainer_forward(&trial.trainer, &trial.batch[i]);
        trainer_backward(&trial.trainer, 1.0f / (float)valid);
        if (i == k) {
            device_upload(trial.device, trial.trainer.model->params[param].grad + index, &bad,
                          sizeof bad);
        }
    }
    mixed_update(&trial.trainer, &report);
    return report;
}

StepReport trial_good_window(void) {
    return trial_window(-1, 0, 0, 0);
}
