/* The solution of lab 09 on the simulated GPU: captured steps against eager ones, the chunked head
   against the kit's. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/graphed.h"
#include "common/testkit/replay.h"
#include "labs/03_accumulate/contract.h"
#include "labs/09_fusion/contract.h"
#include "train/techniques.h"

enum { B = 2, T = 9, MICROS = 3, V = 259, STEPS = 21 };

/* One of two runs of the same steps. */
typedef struct TwinRun {
    Device *device;
    Memory *memory;
    Mixed mixed;
    Trainer trainer;
} TwinRun;

static int32_t tokens[STEPS][MICROS][B * T], targets[STEPS][MICROS][B * T];

/* Some targets are ignored; how many depends on the micro-batch, not on the step. */
static void make_batches(Batch batch[MICROS], int step) {
    Rng rng = rng_new((uint64_t)step, RNG_DATA);
    for (int k = 0; k < MICROS; k++) {
        batch[k] = (Batch){B, T, tokens[step][k], targets[step][k], 0, false};
        for (int i = 0; i < B * T; i++) {
            bool valid = i % 5 != k;
            tokens[step][k][i] = (int32_t)rng_below(&rng, V);
            targets[step][k][i] = valid ? (int32_t)rng_below(&rng, V) : IGNORE_INDEX;
            batch[k].valid += valid;
        }
    }
}

static ModelConfig config_of(Precision precision) {
    return (ModelConfig){
        .V = V, .T = T, .L = 2, .NH = 2, .C = 16, .dropout = 0.3f, .precision = precision};
}

static void side_open(TwinRun *side, Precision precision) {
    ModelConfig config = config_of(precision);
    AdamW adamw = {.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f, .weight_decay = 0.1f};
    *side = (TwinRun){.device = device_gpu_new(ops_gpu)};
    cr_assert_not_null(side->device);
    side->memory = memory_new(side->device, (MemoryOptions){0});
    side->trainer =
        (Trainer){.model = model_new(&config, side->memory, 7),
                  .schedule = {.learning_rate = 1e-2f, .warmup_steps = 4, .max_steps = 40},
                  .max_grad_norm = 0.5f};
    if (precision != F32) {
        mixed_init(&side->mixed, precision);
        side->trainer.mixed = &side->mixed;
        side->mixed.scaler.interval = 5;
        side->mixed.scaler.scale = precision == F16 ? 0x1p22f : 1; /* the first step overflows */
    }
    techniques_set(&side->trainer);
    side->trainer.optimizer = optimizer_new(side->trainer.model, adamw);
}

static void side_close(TwinRun *side) {
    optimizer_free(side->trainer.optimizer);
    model_free(side->trainer.model);
    memory_free(side->memory);
    device_free(side->device);
}

static void same_tensor(const TwinRun *a, const void *x, const void *y, size_t bytes,
                        const char *what, int step) {
    char *p = malloc(bytes), *q = malloc(bytes);
    device_download(a->device, p, x, bytes);
    device_download(a->device, q, y, bytes);
    cr_assert(memcmp(p, q, bytes) == 0, "step %d: %s differ", step, what);
    free(p);
    free(q);
}

static void same_state(const TwinRun *a, const TwinRun *b, int step) {
    const Optimizer *x = a->trainer.optimizer, *y = b->trainer.optimizer;
    for (int i = 0; i < x->model->param_count; i++) {
        const Param *p = &x->model->params[i], *q = &y->model->params[i];
        size_t bytes = p->count * sizeof(float);
        same_tensor(a, p->weight, q->weight, p->count * precision_bytes(x->model->config.precision),
                    "weights", step);
        same_tensor(a, x->m[i], y->m[i], bytes, "first moments", step);
        same_tensor(a, x->v[i], y->v[i], bytes, "second moments", step);
        same_tensor(a, p->grad, q->grad, bytes, "gradients", step);
    }
    cr_assert_eq(x->t, y->t);
    cr_assert_eq(x->model->rng.offset, y->model->rng.offset);
    cr_assert_eq(x->model->block_forwards, y->model->block_forwards);
    cr_assert_eq(a->trainer.schedule.step, b->trainer.schedule.step);
    cr_assert(memcmp(&a->mixed, &b->mixed, sizeof a->mixed) == 0, "step %d: the scaler", step);
}

static void same_report(const StepReport *a, const StepReport *b, int step) {
    cr_assert(memcmp(&a->loss, &b->loss, sizeof a->loss) == 0, "step %d: loss %.17g, not %.17g",
              step, b->loss, a->loss);
    cr_assert(memcmp(&a->grad_norm, &b->grad_norm, sizeof a->grad_norm) == 0 ||
                  (isnan(a->grad_norm) && isnan(b->grad_norm)),
              "step %d: norm %g, not %g", step, (double)b->grad_norm, (double)a->grad_norm);
    cr_assert_eq(a->tokens, b->tokens);
    cr_assert_eq(a->skipped, b->skipped, "step %d", step);
    cr_assert(a->learning_rate <= b->learning_rate && a->learning_rate >= b->learning_rate);
}

/* @return how many steps were skipped */
static int check_steps(Precision precision, Checkpoint checkpoint, bool fused) {
    TwinRun eager, graphed;
    int skipped = 0;
    side_open(&eager, precision);
    side_open(&graphed, precision);
    Model *models[] = {eager.trainer.model, graphed.trainer.model};
    for (int i = 0; i < 2; i++) {
        models[i]->checkpoint = checkpoint;
        models[i]->fused_norm = fused;
        models[i]->head_forward = fused ? head_forward : NULL;
        models[i]->head_backward = fused ? head_backward : NULL;
    }
    Graphed *graph = graphed_new(&graphed.trainer);
    for (int step = 0; step < STEPS; step++) {
        Batch batch[MICROS];
        make_batches(batch, step);
        StepReport want = accumulate_window(&eager.trainer, batch, MICROS);
        StepReport got = step_graph_run(graph, batch, MICROS);
        same_report(&want, &got, step);
        same_state(&eager, &graphed, step);
        skipped += got.skipped;
    }
    MemoryUse peak = memory_peak(eager.memory), counted = memory_peak(graphed.memory);
    cr_assert(memcmp(&peak, &counted, sizeof peak) == 0, "%zu bytes, eager %zu",
              memory_total(&counted), memory_total(&peak));
    graphed_free(graph);
    side_close(&eager);
    side_close(&graphed);
    return skipped;
}

Test(fusion, a_captured_step_has_the_bits_of_an_eager_one) {
    cr_assert_eq(check_steps(F32, (Checkpoint){0}, false), 0);
}

Test(fusion, a_captured_step_is_skipped_where_an_eager_one_is) {
    int skipped = check_steps(F16, (Checkpoint){0}, false);
    cr_assert(skipped > 1 && skipped < STEPS / 2, "%d skipped", skipped);
}

Test(fusion, a_captured_step_with_everything_else) {
    check_steps(BF16, (Checkpoint){.segment = 1, .attention_only = true}, true);
}
