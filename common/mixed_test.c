/* Half precision, whole: the scaler against its automaton, windows with inf and NaN in them,
   masters, scales, snapshots; with accumulation, checkpointing, dropout and clipping on. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/data.h"
#include "common/lab00.h"
#include "common/lab03.h"
#include "common/lab05.h"
#include "common/snapshot.h"
#include "common/weights.h"
#include "grader/compare.h"
#include "grader/scratch.h"
#include "kernels/half.h"

enum { B = 2, T = 6, MICROS = 3 };

static const ModelConfig shape = {
    .V = 256, .T = T, .L = 2, .NH = 2, .C = 16, .dropout = 0.1f, .precision = F16};
static const AdamW adamw = {.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f, .weight_decay = 0.1f};

static int32_t tokens[MICROS][B * T], targets[MICROS][B * T];
static Batch batches[MICROS];
static Device *device;
static Memory *memory;
static Mixed mixed;
static Trainer trainer;
static size_t P;

/* Ragged, some targets masked, the micro-batch in the middle without any. */
static void make_batches(void) {
    Rng rng = rng_new(3, RNG_DATA);
    for (int k = 0; k < MICROS; k++) {
        batches[k] = (Batch){.B = B, .T = T, .tokens = tokens[k], .targets = targets[k]};
        for (int i = 0; i < B * T; i++) {
            bool valid = k != 1 && i % T < T - i / T - k && i % 5 != 3;
            tokens[k][i] = (int32_t)rng_below(&rng, 256);
            targets[k][i] = valid ? (int32_t)rng_below(&rng, 256) : IGNORE_INDEX;
            batches[k].valid += valid;
        }
    }
}

static void open_on(Device *where, ModelConfig config) {
    make_batches();
    device = where;
    cr_assert_not_null(device);
    memory = memory_new(device, (MemoryOptions){.checked = !device->simulated});
    mixed_init(&mixed, config.precision);
    trainer = (Trainer){.model = model_new(&config, memory, 7),
                        .schedule = {.learning_rate = 1e-2f, .warmup_steps = 2, .max_steps = 50},
                        .max_grad_norm = 0.5f,
                        .mixed = &mixed};
    trainer.optimizer = optimizer_new(trainer.model, adamw);
    P = model_param_elements(trainer.model);
}

static void close_all(void) {
    optimizer_free(trainer.optimizer);
    model_free(trainer.model);
    memory_free(memory);
    device_free(device);
}

static void open_cpu(void) {
    open_on(device_cpu_new(64 << 20), shape);
}

/* ---- looking --------------------------------------------------------------------------------- */

/* Everything that a step may change, end to end: weights, masters, m, v. To be freed. */
static float *states(void) {
    const Model *model = trainer.model;
    const Optimizer *optimizer = trainer.optimizer;
    float *all = malloc(4 * P * sizeof *all), *to = all;
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        size_t n = param->count;
        model_download_weight(model, param, to);
        device_download(device, to + n, optimizer->master[i], n * sizeof *to);
        device_download(device, to + 2 * n, optimizer->m[i], n * sizeof *to);
        device_download(device, to + 3 * n, optimizer->v[i], n * sizeof *to);
        to += 4 * n;
    }
    return all;
}

static float *gradients_of(const Model *model) {
    float *all = malloc(P * sizeof *all), *to = all;
    for (int i = 0; i < model->param_count; i++) {
        device_download(model->device, to, model->params[i].grad,
                        model->params[i].count * sizeof *to);
        to += model->params[i].count;
    }
    return all;
}

static void expect_clean_gradients(void) {
    float *grad = gradients_of(trainer.model);
    for (size_t i = 0; i < P; i++) {
        cr_assert_eq(grad[i], 0.0f, "gradient %zu is %g", i, (double)grad[i]);
    }
    free(grad);
}

static void expect_rounded_masters(void) {
    const Model *model = trainer.model;
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        size_t bytes = param->count * sizeof(float);
        float *weight = malloc(bytes), *master = malloc(bytes);
        model_download_weight(model, param, weight);
        device_download(device, master, trainer.optimizer->master[i], bytes);
        for (size_t j = 0; j < param->count; j++) {
            float want = model->config.precision == F16 ? half_to_float(half_from_float(master[j]))
                                                        : bf16_to_float(bf16_from_float(master[j]));
            cr_assert_eq(float_bits(weight[j]), float_bits(want), "%s[%zu]", param->name, j);
        }
        free(weight);
        free(master);
    }
}

/* A copy of the gradients as the optimizer sees them. */
static float *seen;

static void see(void *context, const Model *model) {
    (void)context;
    free(seen);
    seen = gradients_of(model);
}

/* One window by hand; `bad` goes into gradient `index` of parameter `param` after micro-batch k. */
static StepReport window(int k, int param, size_t index, float bad) {
    StepReport report = {0};
    int valid = 0;
    for (int i = 0; i < MICROS; i++) {
        valid += batches[i].valid;
    }
    for (int i = 0; i < MICROS; i++) {
        report.loss += trainer_forward(&trainer, &batches[i]);
        trainer_backward(&trainer, 1.0f / (float)valid);
        if (i == k) {
            device_upload(device, trainer.model->params[param].grad + index, &bad, sizeof bad);
        }
    }
    mixed_update(&trainer, &report);
    return report;
}

static StepReport good_window(void) {
    return window(-1, 0, 0, 0);
}

/* ---- the scaler ------------------------------------------------------------------------------ */

Test(scaler, starts_as_it_should) {
    Scaler s;
    scaler_init(&s);
    cr_assert(s.scale == 65536 && s.growth == 2 && s.backoff == 0.5f && s.floor == 1 &&
              s.interval == 2000 && s.good_steps == 0);
}

/* g good, b bad; interval 5, by hand. */
Test(scaler, follows_the_automaton) {
    static const char steps[] = "ggggggggggbgggggggggbbggggg";
    static const float want[] = {16, 16, 16, 16, 32, 32, 32, 32, 32, 64, 32, 32, 32, 32,
                                 32, 64, 64, 64, 64, 64, 32, 16, 16, 16, 16, 16, 32};
    static const int good[] = {1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 0, 1, 2, 3,
                               4, 0, 1, 2, 3, 4, 0, 0, 1, 2, 3, 4, 0};
    Scaler s = {.scale = 16, .growth = 2, .backoff = 0.5f, .floor = 1, .interval = 5};
    for (size_t i = 0; i < sizeof steps - 1; i++) {
        scaler_update(&s, steps[i] == 'b');
        cr_assert_eq(s.scale, want[i], "step %zu: scale %g", i, (double)s.scale);
        cr_assert_eq(s.good_steps, good[i], "step %zu: %d good steps", i, s.good_steps);
    }
}

Test(scaler, neither_falls_nor_grows_for_ever) {
    Scaler s = {.scale = 8, .growth = 2, .backoff = 0.5f, .floor = 3, .interval = 1};
    scaler_update(&s, true);
    scaler_update(&s, true);
    scaler_update(&s, true);
    cr_assert_eq(s.scale, 3.0f);
    s.scale = 0x1p127f;
    scaler_update(&s, false);
    cr_assert_eq(s.scale, 0x1p127f);
    cr_assert_eq(s.good_steps, 0);
}

/* ---- windows --------------------------------------------------------------------------------- */

Test(mixed, bf16_has_a_scale_of_one_that_stays, .fini = close_all) {
    ModelConfig config = shape;
    config.precision = BF16;
    open_on(device_cpu_new(64 << 20), config);
    cr_assert_eq(mixed_scale(&mixed, 0.125f), 0.125f);
    mixed.scaler.interval = 1;
    for (int i = 0; i < 3; i++) {
        cr_assert(!good_window().skipped);
        expect_rounded_masters();
    }
    cr_assert_eq(mixed.scaler.scale, 1.0f);
}

Test(mixed, a_bad_number_anywhere_skips_the_step, .init = open_cpu, .fini = close_all) {
    static const float bad[] = {INFINITY, -INFINITY, NAN};
    mixed.scaler.scale = 0x1p10f;
    cr_assert(!good_window().skipped);
    float *before = states();
    for (int param = 0; param < trainer.model->param_count; param++) {
        for (int k = 0; k < MICROS; k++) {
            size_t last = trainer.model->params[param].count - 1;
            mixed.scaler.scale = 0x1p10f;
            mixed.scaler.good_steps = 1;
            StepReport report = window(k, param, k == 0 ? 0 : last, bad[(param + k) % 3]);
            float *after = states();
            cr_assert(report.skipped, "%s, micro-batch %d", trainer.model->params[param].name, k);
            cr_assert(!isfinite(report.grad_norm));
            cr_assert_arr_eq(before, after, 4 * P * sizeof *before);
            cr_assert_eq(mixed.scaler.scale, 0x1p9f);
            cr_assert_eq(mixed.scaler.good_steps, 0);
            cr_assert_eq(trainer.optimizer->t, 1);
            cr_assert_eq(trainer.schedule.step, 0);
            expect_clean_gradients();
            free(after);
        }
    }
    cr_assert(!good_window().skipped);
    cr_assert_eq(trainer.optimizer->t, 2);
    free(before);
}

Test(mixed, masters_learn_and_weights_are_their_copies, .init = open_cpu, .fini = close_all) {
    mixed.scaler.scale = 0x1p12f;
    for (int i = 0; i < 4; i++) {
        float *before = states();
        StepReport report = good_window();
        float *after = states();
        cr_assert(!report.skipped && report.grad_norm > 0.5f && isfinite(report.grad_norm));
        cr_assert(memcmp(before, after, 4 * P * sizeof *before) != 0);
        expect_rounded_masters();
        expect_clean_gradients();
        schedule_tick(&trainer.schedule);
        free(before);
        free(after);
    }
    cr_assert_eq(trainer.optimizer->t, 4);
}

/* A learning rate so small that a weight in half alone would never move. */
Test(mixed, small_updates_add_up_in_the_masters, .init = open_cpu, .fini = close_all) {
    mixed.scaler.scale = 0x1p12f;
    trainer.schedule =
        (Schedule){.decay = DECAY_CONSTANT, .learning_rate = 1e-5f, .max_steps = 1000};
    float *before = states(), *after;
    good_window();
    after = states();
    size_t n = trainer.model->params[0].count, moved = 0, masters = 0;
    for (size_t i = 0; i < n; i++) {
        masters += before[n + i] != after[n + i];
    }
    free(after);
    for (int i = 0; i < 100; i++) {
        good_window();
    }
    after = states();
    for (size_t i = 0; i < n; i++) {
        moved += before[i] != after[i];
    }
    cr_assert(masters > n / 2, "%zu of %zu masters moved", masters, n);
    cr_assert(moved > n / 2, "%zu of %zu weights moved", moved, n);
    free(before);
    free(after);
}

/* What the optimizer sees is the same for two scales, the gradient of a float model nearly so. */
Test(mixed, the_scale_leaves_no_trace, .fini = close_all) {
    ModelConfig config = shape;
    config.dropout = 0;
    float *first = NULL;
    static const float scales[] = {0x1p11f, 0x1p12f};
    for (int i = 0; i < 2; i++) {
        open_on(device_cpu_new(64 << 20), config);
        trainer.optimizer->before_step = see;
        trainer.max_grad_norm = 0;
        mixed.scaler.scale = scales[i];
        good_window();
        if (i == 0) {
            close_all();
            first = seen;
            seen = NULL;
        }
    }
    double *want = malloc(P * sizeof *want);
    for (size_t i = 0; i < P; i++) {
        want[i] = (double)first[i];
    }
    char text[COMPARISON_TEXT];
    /* Not bit for bit: some activation gradients of this input are subnormal. */
    Comparison comparison = compare(seen, want, P, (Tolerance){1e-2, 1e-3, 1e-3});
    cr_assert(comparison.pass, "%s", comparison_text(&comparison, "gradients", text));
    free(want);
    free(first);
    free(seen);
    seen = NULL;
}

/* Gradient of the same window by a model in float with the weights of the one that is open. */
static float *float_gradients(void) {
    ModelConfig config = trainer.model->config;
    config.precision = F32;
    Device *host = device_cpu_new(64 << 20);
    Memory *floats = memory_new(host, (MemoryOptions){0});
    Model *model = model_new(&config, floats, 7);
    int valid = 0;
    for (int i = 0; i < model->param_count; i++) {
        float *weight = malloc(model->params[i].count * sizeof *weight);
        model_download_weight(trainer.model, &trainer.model->params[i], weight);
        model_upload_weight(model, &model->params[i], weight);
        free(weight);
    }
    for (int i = 0; i < MICROS; i++) {
        valid += batches[i].valid;
    }
    for (int i = 0; i < MICROS; i++) {
        model_forward(model, &batches[i]);
        model_backward(model, 1.0f / (float)valid);
    }
    float *gradients = gradients_of(model);
    model_free(model);
    memory_free(floats);
    device_free(host);
    return gradients;
}

Test(mixed, gradients_are_those_of_a_float_model, .init = open_cpu, .fini = close_all) {
    char text[COMPARISON_TEXT];
    float *want = float_gradients(), *got = NULL;
    size_t first = 0;
    trainer.optimizer->before_step = see;
    trainer.max_grad_norm = 0;
    mixed.scaler.scale = 0x1p12f;
    good_window();
    got = seen;
    for (int i = 0; i < trainer.model->param_count; i++) {
        const Param *param = &trainer.model->params[i];
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
    free(seen);
    seen = NULL;
}

/* ---- with everything on ---------------------------------------------------------------------- */

/* Levels 1 and 2 of lab 03 and checkpointing of lab 04 leave the bits as they are. */
Test(mixed, accumulated_and_checkpointed) {
    float *want = NULL;
    for (int segment = 0; segment <= 2; segment++) {
        open_cpu();
        mixed.scaler.scale = 0x1p12f;
        trainer.model->checkpoint.segment = segment;
        StepReport report = accumulate_window(&trainer, batches, MICROS);
        cr_assert(!report.skipped);
        cr_assert_eq(trainer.schedule.step, 1);
        float *got = states();
        if (segment == 0) {
            want = got;
        } else {
            cr_assert_arr_eq(got, want, 4 * P * sizeof *got, "segment %d", segment);
            free(got);
        }
        close_all();
    }
    free(want);
}

Test(mixed, a_skipped_window_does_not_tick, .init = open_cpu, .fini = close_all) {
    mixed.scaler.scale = 0x1p40f; /* overflows on the way back */
    float *before = states();
    StepReport report = accumulate_window(&trainer, batches, MICROS);
    float *after = states();
    cr_assert(report.skipped);
    cr_assert_eq(trainer.schedule.step, 0);
    cr_assert_arr_eq(before, after, 4 * P * sizeof *before);
    expect_clean_gradients();
    free(before);
    free(after);
}

Test(mixed, eighteen_bytes_for_each_parameter, .init = open_cpu, .fini = close_all) {
    MemoryUse now = memory_now(memory), want = bytes_states(&trainer.model->config);
    cr_assert_eq(now.bytes[MEMORY_WEIGHTS], 2 * P);
    cr_assert_eq(now.bytes[MEMORY_GRADIENTS], 4 * P);
    cr_assert_eq(now.bytes[MEMORY_OPTIMIZER], 12 * P);
    for (int kind = MEMORY_WEIGHTS; kind <= MEMORY_OPTIMIZER; kind++) {
        cr_assert_eq(now.bytes[kind], want.bytes[kind], "%s", memory_kind_name((MemoryKind)kind));
    }
}

Test(mixed, the_simulated_gpu_does_the_same, .fini = close_all) {
    open_on(device_gpu_new(), shape);
    mixed.scaler.scale = 0x1p12f;
    cr_assert(!good_window().skipped);
    expect_rounded_masters();
    expect_clean_gradients();
    float *before = states();
    cr_assert(window(1, trainer.model->param_count - 1, 3, NAN).skipped);
    float *after = states();
    cr_assert_arr_eq(before, after, 4 * P * sizeof *before);
    cr_assert_eq(mixed.scaler.scale, 0x1p11f);
    expect_clean_gradients();
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
    return data_new((DataOptions){.path = path, .B = B, .T = T, .seed = 1});
}

Test(mixed, resumed_is_uninterrupted, .init = open_cpu, .fini = close_all) {
    Data *data = text();
    Snapshot snapshot = {.trainer = &trainer, .data = data};
    mixed.scaler.scale = 0x1p12f;
    mixed.scaler.interval = 5;
    good_window();
    window(0, 2, 0, INFINITY);
    good_window();
    schedule_tick(&trainer.schedule);
    cr_assert_eq(snapshot_save(&snapshot, scratch_folder(), 0), 0);
    for (int i = 0; i < 5; i++) {
        good_window();
    }
    float *want = states(), scale = mixed.scaler.scale;
    int good_steps = mixed.scaler.good_steps;
    close_all();

    open_cpu();
    mixed.scaler.interval = 5;
    cr_assert_eq(snapshot_load(&snapshot, scratch_path("checkpoint-1")), 0);
    cr_assert_eq(mixed.scaler.scale, 0x1p11f);
    cr_assert_eq(mixed.scaler.good_steps, 1);
    expect_rounded_masters();
    for (int i = 0; i < 5; i++) {
        good_window();
    }
    float *got = states();
    cr_assert_arr_eq(got, want, 4 * P * sizeof *got);
    cr_assert(mixed.scaler.scale == scale && mixed.scaler.good_steps == good_steps);
    cr_assert_eq(scale, 0x1p12f, "the scale has grown again in between: %g", (double)scale);
    free(want);
    free(got);
    data_free(data);
    scratch_remove();
}

Test(mixed, another_precision_is_refused, .init = open_cpu, .fini = close_all) {
    Data *data = text();
    Snapshot snapshot = {.trainer = &trainer, .data = data};
    cr_assert_eq(snapshot_save(&snapshot, scratch_folder(), 0), 0);
    close_all();
    ModelConfig config = shape;
    config.precision = BF16;
    open_on(device_cpu_new(64 << 20), config);
    cr_assert_eq(snapshot_load(&snapshot, scratch_path("checkpoint-0")), -1);
    data_free(data);
    scratch_remove();
}

/* Weights that come from elsewhere become the masters' start. */
Test(mixed, masters_take_new_weights, .init = open_cpu, .fini = close_all) {
    Param *param = &trainer.model->params[LNF_WEIGHT];
    float *values = calloc(param->count, sizeof *values);
    values[1] = 0.3f;
    model_upload_weight(trainer.model, param, values);
    optimizer_take_weights(trainer.optimizer);
    expect_rounded_masters();
    free(values);
}

/* Masters that come from a file bring their weights along. */
Test(mixed, weights_follow_masters_that_are_loaded, .init = open_cpu, .fini = close_all) {
    const char *path = scratch_path("optimizer.safetensors");
    scratch_folder();
    mixed.scaler.scale = 0x1p12f;
    good_window();
    float *want = states();
    cr_assert_eq(optimizer_save(trainer.optimizer, path), 0);
    good_window();
    cr_assert_eq(optimizer_load(trainer.optimizer, path), 0);
    float *got = states();
    cr_assert_arr_eq(got, want, 4 * P * sizeof *got);
    free(want);
    free(got);
    scratch_remove();
}
