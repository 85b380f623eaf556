/* Lab 03's solution: windows on each of the three levels, on both devices, against the plain step
   where that is the same to the bit, and against a model in double where it is not. */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/testkit/ending.h"
#include "common/testkit/replay.h"
#include "common/text.h"
#include "labs/01_loop/contract.h"
#include "labs/03_accumulate/contract.h"

enum { MICROS = 7, MOST = 48, SEED = 17 };

static const ModelConfig shape = {.V = 256, .T = 12, .L = 2, .NH = 2, .C = 16, .dropout = 0.3f};
static const AdamW adamw = {.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f, .weight_decay = 0.1f};

/* Ragged, of different shapes and more than ten times different sizes, a tenth masked; micro-batch
   2 has no valid target, nor has any of the last window of 3. */
static int32_t tokens[MICROS][MOST], targets[MICROS][MOST];
static Batch batches[MICROS];

static void make_batches(void) {
    static const int rows[MICROS] = {1, 4, 2, 3, 4, 1, 2},
                     length[MICROS] = {3, 12, 7, 12, 9, 2, 12};
    Rng rng = rng_new(5, RNG_DATA);
    for (int k = 0; k < MICROS; k++) {
        batches[k] = (Batch){
            .B = rows[k], .T = length[k], .tokens = tokens[k], .targets = targets[k], .valid = 0};
        for (int i = 0; i < rows[k] * length[k]; i++) {
            bool inside = i % length[k] < length[k] - 2 * (i / length[k]);
            bool valid = inside && k != 2 && k != 6 && i % 10 != 7;
            tokens[k][i] = (int32_t)rng_below(&rng, 256);
            targets[k][i] = valid ? (int32_t)rng_below(&rng, 256) : IGNORE_INDEX;
            batches[k].valid += valid;
        }
    }
}

/* 64 targets, all of which count: dividing by their number is exact. */
static Batch full_batch(void) {
    static int32_t in[64], out[64];
    for (int i = 0; i < 64; i++) {
        in[i] = i * 37 % 256;
        out[i] = i * 91 % 256;
    }
    return (Batch){.B = 8, .T = 8, .tokens = in, .targets = out, .valid = 64};
}

/* ---- a trainer, and what it does to a model in double ---------------------------------------- */

typedef struct WindowTrial {
    Device *device;
    Memory *memory;
    Trainer trainer;
    Replay replay;     /* what the trainer does, in double */
    int first, count;  /* micro-batches of the present window */
    int windows, stop; /* that are done; after which report() says stop */
    StepReport last;
} WindowTrial;

/* Computes the gradients of the present window in double; returns the window's loss. */
static double work_out(WindowTrial *bench) {
    replay_weights(&bench->replay, bench->trainer.model);
    reference_zero_grad(bench->replay.reference);
    return replay_window(&bench->replay, batches + bench->first, bench->count);
}

/* Called by optimizer_step(): the gradients are complete and clipped. */
static void expect_gradients(void *context, const Model *model) {
    WindowTrial *bench = context;
    work_out(bench);
    replay_clip(&bench->replay, (double)bench->trainer.max_grad_norm);
    float *got = gradients_of(model);
    double *want = replay_gradients(&bench->replay);
    const char *name;
    char text[COMPARISON_TEXT];
    Comparison comparison = compare_gradients(&shape, got, want, &name);
    cr_assert(comparison.pass, "%s, window %d: %s", bench->device->name, bench->windows,
              comparison_text(&comparison, name, text));
    free(got);
    free(want);
}

static WindowTrial open_bench(bool gpu, ModelConfig config) {
    make_batches();
    WindowTrial bench = {.device = gpu ? device_gpu_new(ops_gpu) : device_cpu_new(64 << 20)};
    cr_assert_not_null(bench.device);
    bench.memory = memory_new(bench.device, (MemoryOptions){.checked = !gpu});
    bench.trainer.model = model_new(&config, bench.memory, SEED);
    bench.trainer.optimizer = optimizer_new(bench.trainer.model, adamw);
    bench.trainer.schedule = (Schedule){.learning_rate = 1e-2f, .warmup_steps = 3, .max_steps = 40};
    bench.trainer.max_grad_norm = 0.5f;
    bench.replay = replay_new(&shape, SEED);
    return bench;
}

static void close_bench(WindowTrial *bench) {
    replay_free(&bench->replay);
    optimizer_free(bench->trainer.optimizer);
    model_free(bench->trainer.model);
    memory_free(bench->memory);
    device_free(bench->device);
}

static uint64_t bits_of_weights(const Model *model) {
    uint64_t hash = HASH_BEGIN;
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        uint32_t *values = malloc(param->count * sizeof *values);
        cr_assert_not_null(values);
        model_download_weight(model, param, (float *)values);
        for (size_t j = 0; j < param->count; j++) {
            hash = hash_add(hash, values[j]);
        }
        free(values);
    }
    return hash;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static bool keep_report(void *context, const StepReport *step) {
    WindowTrial *bench = context;
    bench->last = *step;
    bench->windows++;
    cr_assert_eq(bench->trainer.schedule.step, bench->windows,
                 "a tick for each window, before report");
    cr_assert_eq(bench->trainer.optimizer->t, bench->windows, "a step for each window");
    cr_assert_eq(model_grad_norm(bench->trainer.model), 0, "gradients are left");
    bench->first = (bench->first + bench->count) % MICROS;
    bench->count = bench->first + bench->count <= MICROS ? bench->count : MICROS - bench->first;
    return bench->windows != bench->stop;
}

/* Dropout on, and every window against the reference; with clipping, which hides a wrong scale, and
   without. */
static void check_epochs(bool gpu, int steps, float max_norm) {
    WindowTrial bench = open_bench(gpu, shape);
    bench.trainer.max_grad_norm = max_norm;
    bench.trainer.optimizer->before_step = expect_gradients;
    bench.trainer.optimizer->context = &bench;
    Data *data = data_from_batches(batches, MICROS);
    for (int epoch = 0; epoch < 2; epoch++) {
        bench.first = 0;
        bench.count = steps < MICROS ? steps : MICROS;
        train_epoch(&bench.trainer, data, steps, keep_report, &bench);
        cr_assert_eq(bench.windows, (epoch + 1) * ((MICROS + steps - 1) / steps));
        data_next_epoch(data);
    }
    data_free(data);
    close_bench(&bench);
}

Test(accumulate, every_window_is_the_references) {
    check_epochs(false, 1, 0);
    check_epochs(false, 3, 0); /* the last window has one micro-batch, without a valid target */
    check_epochs(false, 3, 0.5f);
    check_epochs(false, MICROS, 0);
    check_epochs(false, MICROS + 5, 0); /* longer than the data */
}

Test(accumulate, every_window_is_the_references_on_the_gpu) {
    check_epochs(true, 3, 0);
    check_epochs(true, 3, 0.5f);
}

Test(accumulate, by_hand_is_the_reference) {
    for (int gpu = 0; gpu < 2; gpu++) {
        WindowTrial bench = open_bench(gpu, shape);
        bench.trainer.max_grad_norm = 0;
        bench.trainer.optimizer->before_step = expect_gradients;
        bench.trainer.optimizer->context = &bench;
        for (; bench.first < MICROS; bench.first += 3, bench.windows++) {
            bench.count = bench.first + 3 <= MICROS ? 3 : MICROS - bench.first;
            StepReport report =
                accumulate_window(&bench.trainer, batches + bench.first, bench.count);
            cr_assert_eq(model_grad_norm(bench.trainer.model), 0);
            size_t valid = 0;
            for (int k = bench.first; k < bench.first + bench.count; k++) {
                valid += (size_t)batches[k].valid;
            }
            cr_assert_eq(report.tokens, valid);
            cr_assert(valid > 0 ? report.loss > 1 : report.loss == 0, "loss %g", report.loss);
        }
        cr_assert_eq(bench.trainer.schedule.step, 3);
        close_bench(&bench);
    }
}

/* The report is the window's: loss and norm by the reference. */
Test(accumulate, report_is_the_windows) {
    WindowTrial bench = open_bench(false, shape);
    bench.first = 0;
    bench.count = 5;
    double loss = work_out(&bench), norm = replay_clip(&bench.replay, 0.5);
    StepReport report = accumulate_window(&bench.trainer, batches, 5);
    cr_assert_float_eq(report.loss, loss, tolerance_of_loss(F32) * loss, "%g, not %g", report.loss,
                       loss);
    cr_assert_float_eq(report.grad_norm, norm, tolerance_of_model(F32).norm * norm, "%g, not %g",
                       (double)report.grad_norm, norm);
    cr_assert_eq(report.learning_rate, 1e-2f / 3);
    close_bench(&bench);
}

/* A window of one micro-batch of 64 valid targets, by each level; and of lab 01. */
static uint64_t two_steps(bool gpu, int level) {
    WindowTrial bench = open_bench(gpu, shape);
    Batch given[2] = {full_batch(), full_batch()};
    Data *data = data_from_batches(given, 2);
    if (level == 3) {
        bench.count = 1;
        train_epoch(&bench.trainer, data, 1, keep_report, &bench);
    } else {
        Batch batch;
        Accumulator accumulator;
        accumulator_init(&accumulator, &bench.trainer, 1);
        for (int step = 0; step < 2; step++) {
            if (level == 0) {
                bench.last = loop_step(&bench.trainer, &given[step]);
            } else if (level == 1) {
                bench.last = accumulate_window(&bench.trainer, &given[step], 1);
            } else {
                cr_assert(accumulator_open(&accumulator, data) && data_next(data, &batch));
                accumulator_micro(&accumulator, &batch);
                cr_assert(accumulator.sync_gradients);
                bench.last = accumulator_step(&accumulator);
                schedule_tick(&bench.trainer.schedule);
            }
        }
    }
    uint64_t bits = bits_of_weights(bench.trainer.model), loss, norm = 0;
    memcpy(&loss, &bench.last.loss, sizeof loss);
    memcpy(&norm, &bench.last.grad_norm, sizeof bench.last.grad_norm);
    data_free(data);
    close_bench(&bench);
    return bits ^ loss * 3 ^ norm * 5;
}

Test(accumulate, one_micro_batch_is_the_plain_step_bit_for_bit) {
    for (int gpu = 0; gpu < 2; gpu++) {
        uint64_t plain = two_steps(gpu, 0);
        for (int level = 1; level <= 3; level++) {
            cr_assert_eq(two_steps(gpu, level), plain, "level %d", level);
        }
    }
}

/* report() says stop in the middle of an epoch; the next call goes on from there. */
Test(accumulate, stops_and_goes_on) {
    uint64_t bits[2];
    for (int i = 0; i < 2; i++) {
        WindowTrial bench = open_bench(false, shape);
        Data *data = data_from_batches(batches, MICROS);
        bench.stop = i == 0 ? 2 : 0;
        bench.count = 2;
        train_epoch(&bench.trainer, data, 2, keep_report, &bench);
        cr_assert_eq(bench.windows, i == 0 ? 2 : 4);
        cr_assert_eq(data_batches_left(data), i == 0 ? 3 : 0);
        train_epoch(&bench.trainer, data, 2, keep_report, &bench);
        cr_assert_eq(bench.windows, 4);
        bits[i] = bits_of_weights(bench.trainer.model);
        data_free(data);
        close_bench(&bench);
    }
    cr_assert_eq(bits[0], bits[1]);
}

/* The memory of a window does not depend on the number of its micro-batches. */
Test(accumulate, memory_is_that_of_one_micro_batch) {
    size_t peak[3];
    static const int steps[] = {1, 2, 6};
    for (int i = 0; i < 3; i++) {
        WindowTrial bench = open_bench(false, shape);
        Batch given[6];
        for (int k = 0; k < 6; k++) {
            given[k] = full_batch();
        }
        Data *data = data_from_batches(given, 6);
        bench.count = steps[i];
        train_epoch(&bench.trainer, data, steps[i], keep_report, &bench);
        MemoryUse use = memory_peak(bench.memory);
        peak[i] = memory_total(&use);
        data_free(data);
        close_bench(&bench);
    }
    cr_assert_eq(peak[0], peak[1]);
    cr_assert_eq(peak[0], peak[2]);
}

/* ---- a caller's bugs ------------------------------------------------------------------------- */

static void micro_without_a_window(void) {
    WindowTrial bench = open_bench(false, shape);
    Accumulator accumulator;
    accumulator_init(&accumulator, &bench.trainer, 2);
    accumulator_micro(&accumulator, &batches[0]);
}

Test(accumulate, a_micro_batch_needs_an_open_window) {
    expect_ending(micro_without_a_window, -SIGABRT, "no window is open");
}

static void step_after_one_of_two(void) {
    WindowTrial bench = open_bench(false, shape);
    Accumulator accumulator;
    accumulator_init(&accumulator, &bench.trainer, 2);
    Data *data = data_from_batches(batches, MICROS);
    accumulator_open(&accumulator, data);
    accumulator_micro(&accumulator, &batches[0]);
    accumulator_step(&accumulator);
}

Test(accumulate, an_incomplete_window_does_not_step) {
    expect_ending(step_after_one_of_two, -SIGABRT, "the window of 2 micro-batches is not complete");
}

static void window_of_none(void) {
    WindowTrial bench = open_bench(false, shape);
    accumulate_window(&bench.trainer, batches, 0);
}

Test(accumulate, a_window_has_a_micro_batch) {
    expect_ending(window_of_none, -SIGABRT, "a window of 0 micro-batches");
}
