/* Lab 06 in the probe: the holes, and, without them, a plan that is trained by under a hard
   budget. */
#include "grader/labs/06_fit/protocol.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "grader/probe.h"
#include "grader/probe_techniques.h"
#include "labs/03_accumulate/contract.h"
#include "labs/05_fp16/contract.h"

enum { ARENA_BYTES = 256 << 20, TRIES = 24 };

static const int32_t *given_numbers(const Wire *in, const char *name, size_t *count) {
    return wire_get(in, name, WIRE_I32, count);
}

static int given_asked(const Wire *in, int which) {
    return given_numbers(in, "ask", NULL)[which];
}

/* The workspace is for that many threads; models this small need one. */
static Device *plan_device(const Wire *in) {
    omp_set_num_threads(given_asked(in, ASK_THREADS));
    Device *device = probe_device(given_asked(in, ASK_GPU), ARENA_BYTES);
    omp_set_num_threads(1);
    return device;
}

static void plan_bytes_case(const Wire *in, Wire *out) {
    ModelConfig config = probe_config(in);
    size_t count;
    const int32_t *plans = given_numbers(in, "plans", &count);
    const char *names = wire_get(in, "names", WIRE_BYTES, NULL);
    Device *device = plan_device(in);
    for (size_t i = 0; i < count / PLAN_NUMBERS; i++) {
        Plan plan = plan_of(plans + i * PLAN_NUMBERS);
        MemoryUse use = plan_bytes(&config, given_asked(in, ASK_T), &plan, device);
        uint64_t *answer = wire_get(out, names + i * WIRE_NAME, WIRE_U64, NULL);
        for (int kind = 0; kind < MEMORY_KINDS; kind++) {
            answer[kind] = use.bytes[kind];
        }
    }
    device_free(device);
}

static void plan_cost_case(const Wire *in, Wire *out) {
    size_t bytes;
    const CostAsk *asks = wire_get(in, "costs", WIRE_BYTES, &bytes);
    double *seconds = wire_get(out, "seconds", WIRE_F64, NULL);
    for (size_t i = 0; i < bytes / sizeof *asks; i++) {
        seconds[i] = plan_cost(&asks[i].config, asks[i].T, &asks[i].plan, &asks[i].rates);
    }
}

/* ---- blocks that differ ---------------------------------------------------------------------- */

/* The options, each with its blocks; freed by the caller. */
static PlanOption *given_options(const Wire *in, int *count) {
    size_t bytes;
    const void *options = wire_get(in, "options", WIRE_BYTES, &bytes);
    const PlanBlock *blocks = wire_get(in, "blocks", WIRE_BYTES, NULL);
    PlanOption *copy = malloc(bytes);
    CHECK(copy != NULL, "no host memory for options");
    memcpy(copy, options, bytes);
    *count = (int)(bytes / sizeof *copy);
    for (int i = 0; i < *count; i++) {
        copy[i].block = copy[i].blocks > 0 ? blocks + (size_t)i * PLAN_BLOCKS : NULL;
    }
    return copy;
}

static void plan_peak_case(const Wire *in, Wire *out) {
    int count;
    PlanOption *options = given_options(in, &count);
    const unsigned char *ways = wire_get(in, "ways", WIRE_BYTES, NULL);
    uint64_t *peaks = wire_get(out, "peaks", WIRE_U64, NULL);
    for (int i = 0; i < count; i++) {
        peaks[i] = plan_peak(&options[i], ways + (size_t)i * PLAN_BLOCKS);
    }
    free(options);
}

static void plan_choose_case(const Wire *in, Wire *out) {
    int count;
    size_t asked;
    PlanOption *options = given_options(in, &count);
    const uint64_t *budgets = wire_get(in, "budgets", WIRE_U64, &asked);
    int32_t *results = wire_get(out, "results", WIRE_I32, NULL);
    int32_t *choices = wire_get(out, "choices", WIRE_I32, NULL);
    void *scratch = malloc(PLAN_SCRATCH);
    CHECK(scratch != NULL, "no host memory");
    for (size_t i = 0; i < asked; i++) {
        PlanChoice choice = {.option = CHOICE_UNTOUCHED}; /* stays, where nothing fits */
        int32_t *to = choices + i * CHOICE_NUMBERS;
        results[i] = plan_choose(options, count, budgets[i], scratch, PLAN_SCRATCH, &choice);
        *to++ = choice.option;
        for (int k = 0; k < PLAN_BLOCKS; k++) {
            to[k] = choice.way[k];
        }
    }
    free(scratch);
    free(options);
}

static void plan_largest_case(const Wire *in, Wire *out) {
    ModelConfig config = probe_config(in);
    size_t count;
    const int32_t *plans = given_numbers(in, "plans", &count);
    const uint64_t *budgets = wire_get(in, "budgets", WIRE_U64, NULL);
    uint64_t *answers = wire_get(out, "largest", WIRE_U64, NULL);
    Device *device = plan_device(in);
    for (size_t i = 0; i < count / PLAN_NUMBERS; i++) {
        Plan plan = plan_of(plans + i * PLAN_NUMBERS);
        int most = plan_largest(&config, given_asked(in, ASK_T), budgets[i], device, &plan,
                                given_asked(in, ASK_MOST));
        answers[i] = (uint64_t)(int64_t)most;
    }
    device_free(device);
}

/* ---- a plan at work: nothing of the submission is called below ------------------------------- */

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
        batches[k] = (Batch){plan->micro_batch, T, tokens, targets, 0};
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

const ProbeCase probe_cases[] = {
    {"bytes", plan_bytes_case},
    {"cost", plan_cost_case},
    {"peak", plan_peak_case},
    {"choose", plan_choose_case},
    {"largest", plan_largest_case},
    {"train", plan_train_case},
    {NULL, NULL},
};
