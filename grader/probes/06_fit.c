/* Lab 06 in the probe: the three holes, and, without them, a plan that is trained by under a hard
   budget. */
#include "grader/probes/06_fit.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "common/lab03.h"
#include "common/lab05.h"
#include "grader/probe.h"

enum { ARENA_BYTES = 256 << 20, TRIES = 24 };

static const int32_t *numbers(const Wire *in, const char *name, size_t *count) {
    return wire_get(in, name, WIRE_I32, count);
}

static int asked(const Wire *in, int which) {
    return numbers(in, "ask", NULL)[which];
}

/* The workspace is for so many threads; models this small need one. */
static Device *open_device(const Wire *in) {
    omp_set_num_threads(asked(in, ASK_THREADS));
    Device *device = probe_device(asked(in, ASK_GPU), ARENA_BYTES);
    omp_set_num_threads(1);
    return device;
}

static void bytes(const Wire *in, Wire *out) {
    ModelConfig config = probe_config(in);
    size_t count;
    const int32_t *plans = numbers(in, "plans", &count);
    const char *names = wire_get(in, "names", WIRE_BYTES, NULL);
    Device *device = open_device(in);
    for (size_t i = 0; i < count / PLAN_NUMBERS; i++) {
        Plan plan = plan_of(plans + i * PLAN_NUMBERS);
        MemoryUse use = plan_bytes(&config, asked(in, ASK_T), &plan, device);
        uint64_t *answer = wire_get(out, names + i * WIRE_NAME, WIRE_U64, NULL);
        for (int kind = 0; kind < MEMORY_KINDS; kind++) {
            answer[kind] = use.bytes[kind];
        }
    }
    device_free(device);
}

static void choose(const Wire *in, Wire *out) {
    ModelConfig config = probe_config(in);
    PlanRates rates;
    size_t count;
    memcpy(&rates, wire_get(in, "rates", WIRE_BYTES, NULL), sizeof rates);
    const uint64_t *budgets = wire_get(in, "budgets", WIRE_U64, &count);
    int32_t *results = wire_get(out, "results", WIRE_I32, NULL);
    int32_t *plans = wire_get(out, "choices", WIRE_I32, NULL);
    Device *device = open_device(in);
    for (size_t i = 0; i < count; i++) {
        Plan plan = {.micro_batch = -1, .window = -1}; /* stays, where nothing fits */
        results[i] = plan_choose(&config, asked(in, ASK_BATCH), asked(in, ASK_T), budgets[i],
                                 device, &rates, &plan);
        plan_numbers(&plan, plans + i * PLAN_NUMBERS);
    }
    device_free(device);
}

static void largest(const Wire *in, Wire *out) {
    ModelConfig config = probe_config(in);
    size_t count;
    const int32_t *plans = numbers(in, "plans", &count);
    const uint64_t *budgets = wire_get(in, "budgets", WIRE_U64, NULL);
    uint64_t *answers = wire_get(out, "largest", WIRE_U64, NULL);
    Device *device = open_device(in);
    for (size_t i = 0; i < count / PLAN_NUMBERS; i++) {
        Plan plan = plan_of(plans + i * PLAN_NUMBERS);
        int most =
            plan_largest(&config, asked(in, ASK_T), budgets[i], device, &plan, asked(in, ASK_MOST));
        answers[i] = (uint64_t)(int64_t)most;
    }
    device_free(device);
}

/* ---- a plan at work: nothing of the submission is called below ------------------------------- */

static Wire *gradients_to;

static void see_gradients(void *context, const Model *model) {
    (void)context;
    hand_back_gradients(gradients_to, model, NAME_GRADIENT, "update", 0);
}

/* The rows of a batch as the micro-batches of a window. */
static Batch *cut(const Wire *in, const Plan *plan, int T) {
    const int32_t *tokens = numbers(in, "tokens", NULL), *targets = numbers(in, "targets", NULL);
    Batch *batches = calloc((size_t)plan->window, sizeof *batches);
    CHECK(batches != NULL, "no host memory for %d micro-batches", plan->window);
    int N = plan->micro_batch * T;
    for (int k = 0; k < plan->window; k++, tokens += N, targets += N) {
        batches[k] = (Batch){plan->micro_batch, T, tokens, targets, 0};
        for (int i = 0; i < N; i++) {
            batches[k].valid += targets[i] != IGNORE_INDEX;
        }
    }
    return batches;
}

/* One update of a window, tried again while half precision overflows. */
static void train(const Wire *in, Wire *out) {
    ModelConfig config = probe_config(in);
    Plan plan = plan_of(numbers(in, "plan", NULL));
    int T = asked(in, ASK_T);
    size_t budget = *(const uint64_t *)wire_get(in, "budget", WIRE_U64, NULL);
    Device *device = open_device(in);
    Memory *memory = memory_new(device, (MemoryOptions){.budget = budget});
    ModelConfig planned = plan_config(&config, &plan);
    Model *model = model_new(&planned, memory, 1);
    Mixed mixed;
    Trainer trainer = {.model = model, .schedule = {.learning_rate = 1e-3f, .max_steps = 2}};
    trainer.optimizer =
        optimizer_new(model, (AdamW){.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f});
    if (plan.precision != F32) {
        mixed_init(&mixed, plan.precision);
        trainer.mixed = &mixed;
    }
    given_weights(in, model);
    optimizer_take_weights(trainer.optimizer);
    model->checkpoint = plan.checkpoint;
    gradients_to = out;
    trainer.optimizer->before_step = see_gradients;
    Batch *batches = cut(in, &plan, T);
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

const ProbeCase probe_cases[] = {
    {"bytes", bytes}, {"choose", choose}, {"largest", largest}, {"train", train}, {NULL, NULL},
};
