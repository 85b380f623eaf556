/* Lab 06 without a submission: a plan is trained by, under a hard budget. */
#include "grader/labs/06_fit/shared.h"

#include <stdlib.h>

#include "grader/probe.h"
#include "grader/probe_techniques.h"
#include "labs/03_accumulate/contract.h"
#include "labs/05_fp16/contract.h"

enum { TRIES = 24 };

static Wire *gradients_to;

static void plan_see_gradients(void *context, const Model *model) {
    (void)context;
    hand_back_gradients(gradients_to, model, NAME_GRADIENT, "update", 0);
}

/* The rows of a batch as the micro-batches of a window. */
static Batch *plan_cut(const Wire *in, const Plan *plan, int T) {
    const int32_t *tokens = given_numbers(in, "tokens", NULL),
                  *targets = given_numbers(in, "targets", NULL);
    Batch *batches = calloc((size_t)plan->window, sizeof *batches);
    CHECK(batches != NULL, "no host memory for %d micro-batches", plan->window);
    int N = plan->micro_batch * T;
    for (int k = 0; k < plan->window; k++, tokens += N, targets += N) {
        batches[k] = (Batch){.B = plan->micro_batch, .T = T, .tokens = tokens, .targets = targets};
        for (int i = 0; i < N; i++) {
            batches[k].valid += targets[i] != IGNORE_INDEX;
        }
    }
    return batches;
}

/* One update of a window, tried again while half precision overflows. */
static void plan_train_case(const Wire *in, Wire *out) {
    ModelConfig config = probe_config(in);
    Plan plan = plan_of(given_numbers(in, "plan", NULL));
    int T = given_asked(in, ASK_T);
    size_t budget = *(const uint64_t *)wire_get(in, "budget", WIRE_U64, NULL);
    Device *device = plan_device(in);
    Memory *memory = memory_new(device, (MemoryOptions){.budget = budget});
    ModelConfig planned = plan_config(&config, &plan);
    Model *model = model_new(&planned, memory, 1);
    Mixed mixed;
    Trainer trainer = {.model = model, .schedule = {.learning_rate = 1e-3f, .max_steps = 2}};
    trainer.optimizer =
        optimizer_new(model, (AdamW){.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f});
    if (plan.precision != F32) {
        mixed = (Mixed){.dynamic = plan.precision == F16};
        scaler_init(&mixed.scaler);
        mixed.scaler.scale = mixed.dynamic ? mixed.scaler.scale : 1;
        trainer.mixed = &mixed;
    }
    probe_techniques(&trainer);
    given_weights(in, model);
    optimizer_take_weights(trainer.optimizer);
    model->checkpoint = plan.checkpoint;
    gradients_to = out;
    trainer.optimizer->before_step = plan_see_gradients;
    Batch *batches = plan_cut(in, &plan, T);
    Rng masks = model->rng;
    for (int i = 0; i < TRIES && trainer.optimizer->t == 0; i++) {
        model->rng = masks; /* of the first try, which is what the judge draws */
        accumulate_window(&trainer, batches, plan.window);
    }
    CHECK(trainer.optimizer->t == 1, "the optimizer stepped %d times", trainer.optimizer->t);
    MemoryUse peak = memory_peak(memory);
    *(uint64_t *)wire_get(out, "peak", WIRE_U64, NULL) = memory_total(&peak);
    free(batches);
    optimizer_free(trainer.optimizer);
    model_free(model);
    memory_free(memory);
    device_free(device);
}

const ProbeCase probe_cases[] = {{"train", plan_train_case}, {NULL, NULL}};
