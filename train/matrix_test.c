/* The full matrix: {plain, accumulated} x {plain, checkpointed} x {dropout off, on} x {cpu, gpu},
   in three precisions: 48 cells, each of them trained as `train` would run it. docs/numerics.md
   says which of them must equal what. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/testkit/fixture.h"
#include "common/testkit/replay.h"
#include "kernels/half.h"
#include "labs/01_loop/contract.h"
#include "labs/03_accumulate/contract.h"
#include "labs/05_fp16/contract.h"
#include "train/run_state.h"
#include "train/techniques.h"

/* A cell is a set of these. */
enum { ACCUMULATED = 1, CHECKPOINTED = 2, DROPOUT = 4, GPU = 8, CELLS = 16 };

enum { ROWS = 6, MICROS = 3, WINDOWS = 2, LONGEST = 13, SEED = 23 };

/* Sizes that nothing divides; segments of 2 blocks leave a last one of 1. */
static const ModelConfig shape = {.V = 259, .T = LONGEST, .L = 3, .NH = 3, .C = 15};
static const Checkpoint segments = {.segment = 2};

/* An update that is smooth in the gradient: with a small epsilon, one of nearly 0 would decide its
   sign, and the sign the update. */
static const AdamW adamw = {.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-3f, .weight_decay = 0.1f};

/* ---- the same rows, at once and in micro-batches --------------------------------------------- */

/* Rows of these lengths; row 2 has no valid target, and is a micro-batch by itself. */
static const int length[ROWS] = {13, 3, 5, 1, 11, 6};
static const int first_row[MICROS + 1] = {0, 2, 3, ROWS};

static int32_t tokens[MICROS + 1][ROWS * LONGEST], targets[MICROS + 1][ROWS * LONGEST];

/* Rows `from` to `to`, filled up to the longest of them. */
static Batch cut(int place, int from, int to) {
    Batch batch = {.B = to - from, .T = 1, .tokens = tokens[place], .targets = targets[place]};
    for (int row = from; row < to; row++) {
        batch.T = length[row] > batch.T ? length[row] : batch.T;
    }
    for (int i = 0; i < batch.B * batch.T; i++) {
        int row = from + i / batch.T, t = i % batch.T;
        bool inside = t < length[row], valid = inside && row != 2 && (row + t) % 4 != 2;
        tokens[place][i] = inside ? (row * 89 + t * 37) % shape.V : 0;
        targets[place][i] = valid ? (row * 53 + t * 101 + 7) % shape.V : IGNORE_INDEX;
        batch.valid += valid;
    }
    return batch;
}

/* The window of a cell. @return its micro-batches */
static int window_of(unsigned cell, Batch *batches) {
    if (!(cell & ACCUMULATED)) {
        batches[0] = cut(MICROS, 0, ROWS);
        return 1;
    }
    for (int k = 0; k < MICROS; k++) {
        batches[k] = cut(k, first_row[k], first_row[k + 1]);
    }
    return MICROS;
}

/* ---- a cell ---------------------------------------------------------------------------------- */

/* The results of a cell's windows, and those of the reference. */
typedef struct Outcome {
    float *gradients[WINDOWS]; /* as the optimizer saw them, clipped */
    double *expected[WINDOWS];
    StepReport report[WINDOWS];
    double loss[WINDOWS], norm[WINDOWS]; /* expected */
    float *weights;                      /* at the end */
    size_t count;                        /* of all parameters */
    Rng rng;                             /* at the end */
    uint64_t drawn;                      /* expected */
    int skipped;                         /* windows that the scaler skipped */
} Outcome;

typedef struct CellRun {
    char name[96];
    ModelConfig config;
    Trainer trainer;
    Mixed mixed;
    Replay replay;
    Batch batches[MICROS];
    int micros, window;
    Outcome *outcome;
} CellRun;

static void name_cell(char *name, size_t size, Precision precision, unsigned cell) {
    snprintf(name, size, "%s, %s, %s, %s, dropout %s", cell & GPU ? "gpu" : "cpu",
             precision_name(precision), cell & ACCUMULATED ? "accumulated" : "plain",
             cell & CHECKPOINTED ? "checkpointed" : "unchecked", cell & DROPOUT ? "on" : "off");
}

/* Called by optimizer_step(). The second window has begun with the first one's gradients, because
   backward adds to what is there. */
static void look(void *context, const Model *model) {
    CellRun *run = context;
    Outcome *outcome = run->outcome;
    int w = run->window;
    Reference *reference = run->replay.reference;
    outcome->gradients[w] = gradients_of(model);
    replay_weights(&run->replay, model);
    reference_zero_grad(reference);
    outcome->loss[w] = replay_window(&run->replay, run->batches, run->micros);
    const float *before = w > 0 ? outcome->gradients[0] : NULL;
    for (int i = 0; before != NULL && i < reference->param_count; i++) {
        for (size_t j = 0; j < reference->params[i].count; j++) {
            reference->grad[i][j] += (double)*before++;
        }
    }
    outcome->norm[w] = replay_clip(&run->replay, (double)run->trainer.max_grad_norm);
    outcome->expected[w] = replay_gradients(&run->replay);
}

/* Weights in half are their masters, rounded. */
static void expect_rounded(const CellRun *run) {
    const Model *model = run->trainer.model;
    const Optimizer *optimizer = run->trainer.optimizer;
    for (int i = 0; optimizer->master != NULL && i < model->param_count; i++) {
        const Param *param = &model->params[i];
        float *weight = malloc(param->count * sizeof *weight);
        float *master = malloc(param->count * sizeof *master);
        model_download_weight(model, param, weight);
        device_download(model->device, master, optimizer->master[i], param->count * sizeof *master);
        size_t wrong = 0;
        for (size_t j = 0; j < param->count; j++) {
            float want = precision_round(run->config.precision, master[j]);
            wrong += float_bits(weight[j]) != float_bits(want);
        }
        cr_expect_eq(wrong, 0, "%s: %zu of %zu numbers of %s are not their masters, rounded",
                     run->name, wrong, param->count, param->name);
        free(weight);
        free(master);
    }
}

/* Called after each window and its tick. */
static bool after_window(void *context, const StepReport *step) {
    CellRun *run = context;
    const Trainer *trainer = &run->trainer;
    float left = model_grad_norm(trainer->model);
    cr_expect(left == 0, "%s, window %d: gradients of norm %g are left", run->name, run->window,
              (double)left);
    run->window += !step->skipped;
    run->outcome->skipped += step->skipped;
    cr_expect(trainer->schedule.step == run->window && trainer->optimizer->t == run->window,
              "%s: %d ticks and %d updates in %d windows that were not skipped", run->name,
              trainer->schedule.step, trainer->optimizer->t, run->window);
    if (step->skipped) {
        replay_skip(&run->replay, run->batches, run->micros);
        return true;
    }
    run->outcome->report[run->window - 1] = *step;
    expect_rounded(run);
    return true;
}

/* The way of run_steps() in train/run_steps.c. */
static void train_window(CellRun *run, Data *data) {
    TrainOptions options = {.config = run->config,
                            .accumulation = run->micros,
                            .checkpointing = run->trainer.model->checkpoint.segment > 0};
    if (run_needs_windows(&options)) {
        train_epoch(&run->trainer, data, run->micros, after_window, run);
    } else {
        StepReport step = loop_step(&run->trainer, &run->batches[0]);
        after_window(run, &step);
    }
    data_next_epoch(data);
}

/* The first window's gradients once more, scaled as the second one's will be. */
static void put_back(const CellRun *run) {
    Model *model = run->trainer.model;
    const float *from = run->outcome->gradients[0];
    for (int i = 0; i < model->param_count; i++) {
        device_upload(model->device, model->params[i].grad, from,
                      model->params[i].count * sizeof *from);
        from += model->params[i].count;
    }
    if (run->trainer.mixed != NULL) {
        model_scale_grad(model, run->mixed.scaler.scale);
    }
}

/* f16 begins with a scale that overflows: a window is skipped, the scale falls to 2^12; each window
   that is not doubles it. The first is not clipped, the second is. */
static void train_windows(CellRun *run) {
    Data *data = data_from_batches(run->batches, run->micros);
    if (run->config.precision == F16) {
        run->mixed.scaler.scale = 0x1p40f;
        run->mixed.scaler.backoff = 0x1p-28f;
        run->mixed.scaler.interval = 1;
        train_window(run, data);
    }
    train_window(run, data);
    if (run->window == 1) {
        put_back(run);
        run->trainer.max_grad_norm = 0.5f;
        train_window(run, data);
    }
    data_free(data);
}

static void read_weights(const Model *model, Outcome *outcome) {
    outcome->count = model_param_elements(model);
    outcome->weights = malloc(outcome->count * sizeof *outcome->weights);
    float *to = outcome->weights;
    for (int i = 0; i < model->param_count; i++) {
        model_download_weight(model, &model->params[i], to);
        to += model->params[i].count;
    }
}

static Outcome run_cell(Precision precision, unsigned cell) {
    Outcome outcome = {0};
    CellRun run = {.config = shape, .outcome = &outcome};
    name_cell(run.name, sizeof run.name, precision, cell);
    run.config.precision = precision;
    run.config.dropout = cell & DROPOUT ? 0.3f : 0;
    run.micros = window_of(cell, run.batches);
    Device *device = cell & GPU ? device_gpu_new(ops_gpu) : device_cpu_new(64 << 20);
    cr_assert_not_null(device);
    Memory *memory = memory_new(device, (MemoryOptions){.checked = !device->simulated});
    Model *model = model_new(&run.config, memory, SEED);
    model->checkpoint = cell & CHECKPOINTED ? segments : (Checkpoint){0};
    run.replay = replay_new(&run.config, SEED);
    run.trainer = (Trainer){
        .model = model,
        .optimizer = optimizer_new(model, adamw),
        .schedule = {.learning_rate = 1e-2f, .warmup_steps = 2, .max_steps = 50},
        .mixed = precision == F32 ? NULL : &run.mixed,
    };
    if (precision != F32) {
        mixed_init(&run.mixed, precision);
    }
    techniques_set(&run.trainer);
    run.trainer.optimizer->before_step = look;
    run.trainer.optimizer->context = &run;

    train_windows(&run);

    read_weights(model, &outcome);
    outcome.rng = model->rng;
    outcome.drawn = run.replay.drawn;
    replay_free(&run.replay);
    optimizer_free(run.trainer.optimizer);
    model_free(model);
    memory_free(memory);
    device_free(device);
    cr_expect_eq(fixture_problems(), 0, "%s: the simulated GPU has reported a problem", run.name);
    return outcome;
}

static void free_outcome(Outcome *outcome) {
    for (int w = 0; w < WINDOWS; w++) {
        free(outcome->gradients[w]);
        free(outcome->expected[w]);
    }
    free(outcome->weights);
}

/* ---- what must equal what -------------------------------------------------------------------- */

static void expect_close(const char *name, const char *other, int w, Precision precision,
                         const float *got, const double *want) {
    ModelConfig config = shape;
    config.precision = precision;
    char text[COMPARISON_TEXT];
    const char *param = "";
    Comparison comparison = compare_gradients(&config, got, want, &param);
    cr_expect(comparison.pass, "%s, window %d, is not %s: %s", name, w, other,
              comparison_text(&comparison, param, text));
    if (getenv("SHOW_SHARES") != NULL) {
        fprintf(stderr, "share %.2g %s, window %d: %s, %s\n", comparison.share, name, w, other,
                param);
    }
}

static void expect_number(const char *name, const char *what, double got, double want,
                          double relative) {
    cr_expect_float_eq(got, want, relative * want, "%s: %s is %.9g, not %.9g", name, what, got,
                       want);
    if (getenv("SHOW_SHARES") != NULL) {
        fprintf(stderr, "share %.2g %s: %s\n", fabs(got - want) / (relative * want), name, what);
    }
}

/* With dropout too: the reference has drawn the cell's own masks. */
static void expect_reference(const char *name, Precision precision, const Outcome *outcome) {
    for (int w = 0; w < WINDOWS; w++) {
        const StepReport *report = &outcome->report[w];
        expect_close(name, "the reference", w, precision, outcome->gradients[w],
                     outcome->expected[w]);
        expect_number(name, "the loss", report->loss, outcome->loss[w],
                      tolerance_of_loss(precision));
        expect_number(name, "the norm", (double)report->grad_norm, outcome->norm[w],
                      tolerance_of_model(precision).norm);
        cr_expect(report->grad_norm > 0.5f, "%s: there is nothing to clip", name);
    }
    cr_expect_eq(outcome->rng.offset, outcome->drawn, "%s: the dropout stream ends elsewhere",
                 name);
    cr_expect_eq(outcome->skipped, precision == F16, "%s: %d windows were skipped", name,
                 outcome->skipped);
}

/* Always, bit for bit: the weights, the report, and the place of the stream. */
static void expect_same_bits(const char *name, const Outcome *a, const Outcome *b) {
    size_t bytes = a->count * sizeof(float);
    for (int w = 0; w < WINDOWS; w++) {
        cr_expect(memcmp(a->gradients[w], b->gradients[w], bytes) == 0,
                  "%s, window %d: other gradients than unchecked", name, w);
        cr_expect(a->report[w].loss == b->report[w].loss &&
                      a->report[w].grad_norm == b->report[w].grad_norm,
                  "%s, window %d: another loss or norm than unchecked", name, w);
    }
    cr_expect(memcmp(a->weights, b->weights, bytes) == 0, "%s: other weights than unchecked", name);
    cr_expect(memcmp(&a->rng, &b->rng, sizeof a->rng) == 0,
              "%s: the dropout stream ends elsewhere than unchecked", name);
}

/* The first window's gradients, from the same weights. Later ones differ by what the update has
   made of rounding. */
static void expect_window_of(const char *name, const char *other, Precision precision,
                             const Outcome *outcome, const Outcome *twin) {
    double *want = malloc(outcome->count * sizeof *want);
    for (size_t i = 0; i < outcome->count; i++) {
        want[i] = (double)twin->gradients[0][i];
    }
    expect_close(name, other, 0, precision, outcome->gradients[0], want);
    free(want);
}

static bool complete(const Outcome *outcome) {
    return outcome->gradients[WINDOWS - 1] != NULL;
}

static void check_matrix(Precision precision) {
    Outcome outcomes[CELLS];
    for (unsigned cell = 0; cell < CELLS; cell++) {
        const Outcome *outcome = &outcomes[cell];
        char name[96];
        name_cell(name, sizeof name, precision, cell);
        outcomes[cell] = run_cell(precision, cell);
        cr_expect(complete(outcome), "%s: a window is missing", name);
        if (!complete(outcome)) {
            continue;
        }
        expect_reference(name, precision, outcome);
        if (cell & CHECKPOINTED && complete(&outcomes[cell ^ CHECKPOINTED])) {
            expect_same_bits(name, outcome, &outcomes[cell ^ CHECKPOINTED]);
        }
        if (cell & ACCUMULATED && !(cell & DROPOUT) && complete(&outcomes[cell ^ ACCUMULATED])) {
            /* Only the order differs in which floats are summed: by the precision, nothing. */
            expect_window_of(name, "plain", F32, outcome, &outcomes[cell ^ ACCUMULATED]);
        }
        if (cell & GPU && complete(&outcomes[cell ^ GPU])) {
            expect_window_of(name, "the cpu's", precision, outcome, &outcomes[cell ^ GPU]);
        }
    }
    for (unsigned cell = 0; cell < CELLS; cell++) {
        free_outcome(&outcomes[cell]);
    }
}

Test(matrix, f32, .timeout = 300) {
    check_matrix(F32);
}

Test(matrix, f16, .timeout = 300) {
    check_matrix(F16);
}

Test(matrix, bf16, .timeout = 300) {
    check_matrix(BF16);
}
