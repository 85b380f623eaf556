/* Half precision, whole: windows with inf and NaN in them, masters, scales, snapshots; with
   accumulation, checkpointing, dropout and clipping on. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/data.h"
#include "common/snapshot.h"
#include "common/testkit/compare.h"
#include "common/testkit/replay.h"
#include "common/testkit/scratch.h"
#include "common/weights.h"
#include "grader/labs/05_fp16/mixed_trial.h"
#include "labs/00_bytes/contract.h"
#include "labs/03_accumulate/contract.h"

/* ---- windows --------------------------------------------------------------------------------- */

Test(mixed, bf16_has_a_scale_of_one_that_stays, .fini = trial_close) {
    ModelConfig config = trial_shape;
    config.precision = BF16;
    trial_open_on(device_cpu_new(64 << 20), config);
    cr_assert_eq(mixed_scale(&trial.mixed, 0.125f), 0.125f);
    trial.mixed.scaler.interval = 1;
    for (int i = 0; i < 3; i++) {
        cr_assert(!trial_good_window().skipped);
        trial_expect_rounded();
    }
    cr_assert_eq(trial.mixed.scaler.scale, 1.0f);
}

Test(mixed, a_bad_number_anywhere_skips_the_step, .init = trial_open, .fini = trial_close) {
    static const float bad[] = {INFINITY, -INFINITY, NAN};
    trial.mixed.scaler.scale = 0x1p10f;
    cr_assert(!trial_good_window().skipped);
    float *before = trial_states();
    for (int param = 0; param < trial.trainer.model->param_count; param++) {
        for (int k = 0; k < TRIAL_MICROS; k++) {
            size_t last = trial.trainer.model->params[param].count - 1;
            trial.mixed.scaler.scale = 0x1p10f;
            trial.mixed.scaler.good_steps = 1;
            StepReport report = trial_window(k, param, k == 0 ? 0 : last, bad[(param + k) % 3]);
            float *after = trial_states();
            cr_assert(report.skipped, "%s, micro-batch %d", trial.trainer.model->params[param].name,
                      k);
            cr_assert(!isfinite(report.grad_norm));
            cr_assert_arr_eq(before, after, 4 * trial.P * sizeof *before);
            cr_assert_eq(trial.mixed.scaler.scale, 0x1p9f);
            cr_assert_eq(trial.mixed.scaler.good_steps, 0);
            cr_assert_eq(trial.trainer.optimizer->t, 1);
            cr_assert_eq(trial.trainer.schedule.step, 0);
            trial_expect_clean();
            free(after);
        }
    }
    cr_assert(!trial_good_window().skipped);
    cr_assert_eq(trial.trainer.optimizer->t, 2);
    free(before);
}

Test(mixed, masters_learn_and_weights_are_their_copies, .init = trial_open, .fini = trial_close) {
    trial.mixed.scaler.scale = 0x1p12f;
    for (int i = 0; i < 4; i++) {
        float *before = trial_states();
        StepReport report = trial_good_window();
        float *after = trial_states();
        cr_assert(!report.skipped && report.grad_norm > 0.5f && isfinite(report.grad_norm));
        cr_assert(memcmp(before, after, 4 * trial.P * sizeof *before) != 0);
        trial_expect_rounded();
        trial_expect_clean();
        schedule_tick(&trial.trainer.schedule);
        free(before);
        free(after);
    }
    cr_assert_eq(trial.trainer.optimizer->t, 4);
}

/* A learning rate so small that a weight in half alone would never move. */
Test(mixed, small_updates_add_up_in_the_masters, .init = trial_open, .fini = trial_close) {
    trial.mixed.scaler.scale = 0x1p12f;
    trial.trainer.schedule =
        (Schedule){.decay = DECAY_CONSTANT, .learning_rate = 1e-5f, .max_steps = 1000};
    float *before = trial_states(), *after;
    trial_good_window();
    after = trial_states();
    size_t n = trial.trainer.model->params[0].count, moved = 0, masters = 0;
    for (size_t i = 0; i < n; i++) {
        masters += before[n + i] != after[n + i];
    }
    free(after);
    for (int i = 0; i < 100; i++) {
        trial_good_window();
    }
    after = trial_states();
    for (size_t i = 0; i < n; i++) {
        moved += before[i] != after[i];
    }
    cr_assert(masters > n / 2, "%zu of %zu masters moved", masters, n);
    cr_assert(moved > n / 2, "%zu of %zu weights moved", moved, n);
    free(before);
    free(after);
}

/* The optimizer sees the same gradients for two scales, and the gradient of a float model nearly
 * so. */
Test(mixed, the_scale_leaves_no_trace, .fini = trial_close) {
    ModelConfig config = trial_shape;
    config.dropout = 0;
    float *first = NULL;
    static const float scales[] = {0x1p11f, 0x1p12f};
    for (int i = 0; i < 2; i++) {
        trial_open_on(device_cpu_new(64 << 20), config);
        trial.trainer.optimizer->before_step = trial_see;
        trial.trainer.max_grad_norm = 0;
        trial.mixed.scaler.scale = scales[i];
        trial_good_window();
        if (i == 0) {
            trial_close();
            first = trial.seen;
            trial.seen = NULL;
        }
    }
    double *want = malloc(trial.P * sizeof *want);
    for (size_t i = 0; i < trial.P; i++) {
        want[i] = (double)first[i];
    }
    char text[COMPARISON_TEXT];
    /* Not bit for bit: some activation gradients of this input are subnormal. */
    Comparison comparison = compare(trial.seen, want, trial.P, tolerance_of_op(F16, 1));
    cr_assert(comparison.pass, "%s", comparison_text(&comparison, "gradients", text));
    free(want);
    free(first);
    free(trial.seen);
    trial.seen = NULL;
}

/* Gradient of the same window by a model in float with the weights of the one that is open. */
static float *float_gradients(void) {
    ModelConfig config = trial.trainer.model->config;
    config.precision = F32;
    Device *host = device_cpu_new(64 << 20);
    Memory *floats = memory_new(host, (MemoryOptions){0});
    Model *model = model_new(&config, floats, 7);
    int valid = 0;
    for (int i = 0; i < model->param_count; i++) {
        float *weight = malloc(model->params[i].count * sizeof *weight);
        model_download_weight(trial.trainer.model, &trial.trainer.model->params[i], weight);
        model_upload_weight(model, &model->params[i], weight);
        free(weight);
    }
    for (int i = 0; i < TRIAL_MICROS; i++) {
        valid += trial.batch[i].valid;
    }
    for (int i = 0; i < TRIAL_MICROS; i++) {
        model_forward(model, &trial.batch[i]);
        model_backward(model, 1.0f / (float)valid);
    }
    float *gradients = gradients_of(model);
    model_free(model);
    memory_free(floats);
    device_free(host);
    return gradients;
}

Test(mixed, gradients_are_those_of_a_float_model, .init = trial_open, .fini = trial_close) {
    char text[COMPARISON_TEXT];
    float *want = float_gradients(), *got = NULL;
    size_t first = 0;
    trial.trainer.optimizer->before_step = trial_see;
    trial.trainer.max_grad_norm = 0;
    trial.mixed.scaler.scale = 0x1p12f;
    trial_good_window();
    got = trial.seen;
    for (int i = 0; i < trial.trainer.model->param_count; i++) {
        const Param *param = &trial.trainer.model->params[i];
        double *doubles = malloc(param->count * sizeof *doubles);
        for (size_t j = 0; j < param->count; j++) {
            doubles[j] = (double)want[first + j];
        }
        Comparison c = compare(got + first, doubles, param->count, tolerance_of_model(F16));
        cr_assert(c.pass, "%s", comparison_text(&c, param->name, text));
        first += param->count;
        free(doubles);
    }
    free(want);
    free(trial.seen);
    trial.seen = NULL;
}

/* ---- with everything on ---------------------------------------------------------------------- */

/* Levels 1 and 2 of lab 03 and checkpointing of lab 04 leave the bits as they are. */
Test(mixed, accumulated_and_checkpointed) {
    float *want = NULL;
    for (int segment = 0; segment <= 2; segment++) {
        trial_open();
        trial.mixed.scaler.scale = 0x1p12f;
        trial.trainer.model->checkpoint.segment = segment;
        StepReport report = accumulate_window(&trial.trainer, trial.batch, TRIAL_MICROS);
        cr_assert(!report.skipped);
        cr_assert_eq(trial.trainer.schedule.step, 1);
        float *got = trial_states();
        if (segment == 0) {
            want = got;
        } else {
            cr_assert_arr_eq(got, want, 4 * trial.P * sizeof *got, "segment %d", segment);
            free(got);
        }
        trial_close();
    }
    free(want);
}

Test(mixed, a_skipped_window_does_not_tick, .init = trial_open, .fini = trial_close) {
    trial.mixed.scaler.scale = 0x1p40f; /* overflows on the way back */
    float *before = trial_states();
    StepReport report = accumulate_window(&trial.trainer, trial.batch, TRIAL_MICROS);
    float *after = trial_states();
    cr_assert(report.skipped);
    cr_assert_eq(trial.trainer.schedule.step, 0);
    cr_assert_arr_eq(before, after, 4 * trial.P * sizeof *before);
    trial_expect_clean();
    free(before);
    free(after);
}

Test(mixed, eighteen_bytes_for_each_parameter, .init = trial_open, .fini = trial_close) {
    MemoryUse now = memory_now(trial.memory), want = bytes_states(&trial.trainer.model->config);
    cr_assert_eq(now.bytes[MEMORY_WEIGHTS], 2 * trial.P);
    cr_assert_eq(now.bytes[MEMORY_GRADIENTS], 4 * trial.P);
    cr_assert_eq(now.bytes[MEMORY_OPTIMIZER], 12 * trial.P);
    for (int kind = MEMORY_WEIGHTS; kind <= MEMORY_OPTIMIZER; kind++) {
        cr_assert_eq(now.bytes[kind], want.bytes[kind], "%s", memory_kind_name((MemoryKind)kind));
    }
}

Test(mixed, the_simulated_gpu_does_the_same, .fini = trial_close) {
    trial_open_on(device_gpu_new(ops_gpu), trial_shape);
    trial.mixed.scaler.scale = 0x1p12f;
    cr_assert(!trial_good_window().skipped);
    trial_expect_rounded();
    trial_expect_clean();
    float *before = trial_states();
    cr_assert(trial_window(1, trial.trainer.model->param_count - 1, 3, NAN).skipped);
    float *after = trial_states();
    cr_assert_arr_eq(before, after, 4 * trial.P * sizeof *before);
    cr_assert_eq(trial.mixed.scaler.scale, 0x1p11f);
    trial_expect_clean();
    free(before);
    free(after);
}

/* ---- saved and restored ---------------------------------------------------------------------- */

static Data *text(void) {
    static char bytes[2000];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char)('a' + i * i % 23);
    }
    const char *path = scratch_file("text", bytes, sizeof bytes);
    return data_new((DataOptions){.path = path, .B = TRIAL_B, .T = TRIAL_T, .seed = 1});
}

Test(mixed, resumed_is_uninterrupted, .init = trial_open, .fini = trial_close) {
    Data *data = text();
    Snapshot snapshot = {.trainer = &trial.trainer, .data = data};
    trial.mixed.scaler.scale = 0x1p12f;
    trial.mixed.scaler.interval = 5;
    trial_good_window();
    trial_window(0, 2, 0, INFINITY);
    trial_good_window();
    schedule_tick(&trial.trainer.schedule);
    cr_assert_eq(snapshot_save(&snapshot, scratch_folder(), 0), 0);
    for (int i = 0; i < 5; i++) {
        trial_good_window();
    }
    float *want = trial_states(), scale = trial.mixed.scaler.scale;
    int good_steps = trial.mixed.scaler.good_steps;
    trial_close();

    trial_open();
    trial.mixed.scaler.interval = 5;
    cr_assert_eq(snapshot_load(&snapshot, scratch_path("checkpoint-1")), 0);
    cr_assert_eq(trial.mixed.scaler.scale, 0x1p11f);
    cr_assert_eq(trial.mixed.scaler.good_steps, 1);
    trial_expect_rounded();
    for (int i = 0; i < 5; i++) {
        trial_good_window();
    }
    float *got = trial_states();
    cr_assert_arr_eq(got, want, 4 * trial.P * sizeof *got);
    cr_assert(trial.mixed.scaler.scale == scale && trial.mixed.scaler.good_steps == good_steps);
    cr_assert_eq(scale, 0x1p12f, "the scale has grown again in between: %g", (double)scale);
    free(want);
    free(got);
    data_free(data);
    scratch_remove();
}

Test(mixed, another_precision_is_refused, .init = trial_open, .fini = trial_close) {
    Data *data = text();
    Snapshot snapshot = {.trainer = &trial.trainer, .data = data};
    cr_assert_eq(snapshot_save(&snapshot, scratch_folder(), 0), 0);
    trial_close();
    ModelConfig config = trial_shape;
    config.precision = BF16;
    trial_open_on(device_cpu_new(64 << 20), config);
    cr_assert_eq(snapshot_load(&snapshot, scratch_path("checkpoint-0")), -1);
    data_free(data);
    scratch_remove();
}

/* Weights that come from elsewhere become the masters' start. */
Test(mixed, masters_take_new_weights, .init = trial_open, .fini = trial_close) {
    Param *param = &trial.trainer.model->params[LNF_WEIGHT];
    float *values = calloc(param->count, sizeof *values);
    values[1] = 0.3f;
    model_upload_weight(trial.trainer.model, param, values);
    optimizer_take_weights(trial.trainer.optimizer);
    trial_expect_rounded();
    free(values);
}

/* Masters that come from a file bring their weights along. */
Test(mixed, weights_follow_masters_that_are_loaded, .init = trial_open, .fini = trial_close) {
    const char *path = scratch_path("optimizer.safetensors");
    scratch_folder();
    trial.mixed.scaler.scale = 0x1p12f;
    trial_good_window();
    float *want = trial_states();
    cr_assert_eq(optimizer_save(trial.trainer.optimizer, path), 0);
    trial_good_window();
    cr_assert_eq(optimizer_load(trial.trainer.optimizer, path), 0);
    float *got = trial_states();
    cr_assert_arr_eq(got, want, 4 * trial.P * sizeof *got);
    free(want);
    free(got);
    scratch_remove();
}
