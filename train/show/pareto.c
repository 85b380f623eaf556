/* Every plan of lab 06 at work, for tools/pareto.py: takes the options of `train`, prints a line
   for each plan, and among them the one that plan_choose() takes for --fit. A window is run by each
   plan twice: the first pays for what is done once.

   micro_batch window precision attention segment attention_only predicted_bytes counted_bytes
   predicted_tokens_per_s tokens_per_s chosen */
#include <stdio.h>
#include <stdlib.h>

#include "common/files.h"
#include "common/lab.h"
#include "labs/03_accumulate/contract.h"
#include "labs/05_fp16/contract.h"
#include "labs/06_fit/contract.h"
#include "train/measure.h"
#include "train/options.h"
#include "train/rates.h"
#include "train/techniques.h"

/* The data that all plans share. */
typedef struct Course {
    ModelConfig config;
    int T, batch;
    Device *device;
    PlanRates rates;
    int32_t *ids; /* (batch * T + 1) */
    Plan chosen;
} Course;

/* Milliseconds of a window, and the bytes at its peak. */
static double run_window(const Course *course, const Plan *plan, MemoryUse *peak) {
    ModelConfig config = plan_config(&course->config, plan);
    int N = plan->micro_batch * course->T;
    Batch *batches = calloc((size_t)plan->window, sizeof *batches);
    CHECK(batches != NULL, "no memory for %d micro-batches", plan->window);
    for (int k = 0; k < plan->window; k++) {
        const int32_t *ids = course->ids + (size_t)k * (size_t)N;
        batches[k] = (Batch){plan->micro_batch, course->T, ids, ids + 1, N};
    }
    Memory *memory = memory_new(course->device, (MemoryOptions){0});
    Mixed mixed;
    Trainer trainer = {.model = model_new(&config, memory, 1),
                       .schedule = {.learning_rate = 1e-3f, .max_steps = 100}};
    trainer.model->checkpoint = plan->checkpoint;
    trainer.optimizer =
        optimizer_new(trainer.model, (AdamW){.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f});
    if (plan->precision != F32) {
        mixed_init(&mixed, plan->precision);
        trainer.mixed = &mixed;
    }
    techniques_set(&trainer);
    double began = 0;
    for (int i = 0; i < 2; i++) {
        began = now_ms();
        accumulate_window(&trainer, batches, plan->window);
        device_synchronize(course->device);
    }
    double ms = now_ms() - began;
    *peak = memory_peak(memory);
    optimizer_free(trainer.optimizer);
    model_free(trainer.model);
    memory_free(memory);
    free(batches);
    return ms;
}

static bool same_plan(const Plan *a, const Plan *b, int L) {
    return a->micro_batch == b->micro_batch && a->precision == b->precision &&
           a->attention == b->attention && a->checkpoint.segment % L == b->checkpoint.segment % L &&
           a->checkpoint.attention_only == b->checkpoint.attention_only;
}

static void print_plan(const Course *course, const Plan *plan) {
    MemoryUse predicted = plan_bytes(&course->config, course->T, plan, course->device), peak;
    double tokens = (double)course->batch * course->T;
    double ms = run_window(course, plan, &peak);
    printf("%d %d %s %s %d %d %zu %zu %.1f %.1f %d\n", plan->micro_batch, plan->window,
           precision_name(plan->precision), plan->attention == ATTENTION_PLAIN ? "plain" : "flash",
           plan->checkpoint.segment, plan->checkpoint.attention_only, memory_total(&predicted),
           memory_total(&peak),
           tokens / plan_cost(&course->config, course->T, plan, &course->rates), 1e3 * tokens / ms,
           same_plan(plan, &course->chosen, course->config.L));
    fflush(stdout);
}

/* Segments of L blocks are none, and flash attention has no probabilities to run again. */
static void print_checkpoints(const Course *course, Plan plan) {
    for (int segment = 0; segment < course->config.L; segment++) {
        for (int only = 0; only <= (plan.attention == ATTENTION_PLAIN); only++) {
            plan.checkpoint = (Checkpoint){segment, only != 0};
            print_plan(course, &plan);
        }
    }
}

static void print_all(const Course *course) {
    static const Precision precisions[] = {F32, F16, BF16};
    for (int micro = 1; micro <= course->batch; micro++) {
        for (int i = 0; i < 6 && course->batch % micro == 0; i++) {
            Plan plan = {.micro_batch = micro, .window = course->batch / micro};
            plan.precision = precisions[i / 2];
            plan.attention = i % 2 ? ATTENTION_FLASH : ATTENTION_PLAIN;
            print_checkpoints(course, plan);
        }
    }
}

static bool prepare(Course *course, const TrainOptions *options) {
    int N = course->batch * course->T;
    Rng rng = rng_new((uint64_t)options->seed, RNG_DATA);
    course->ids = malloc(((size_t)N + 1) * sizeof *course->ids);
    CHECK(course->ids != NULL, "no memory for %d tokens", N);
    for (int i = 0; i <= N; i++) {
        course->ids[i] = (int32_t)rng_below(&rng, (uint64_t)course->config.V);
    }
    if (options->rates != NULL) {
        return rates_load(&course->rates, options->rates) == 0;
    }
    rates_measure(course->device, &course->config, N, &course->rates);
    return true;
}

int main(int argc, char **argv) {
    TrainOptions options;
    char error[ERROR_BYTES];
    ParseResult parsed = options_parse(argc, argv, &options, stdout, stderr);
    if (parsed != PARSE_RUN) {
        return parsed == PARSE_HELP ? 0 : EXIT_USAGE;
    }
    options.T = options.T > 0 ? options.T : options.config.T;
    if (options_check_model(&options, error) != 0) {
        fprintf(stderr, "pareto: %s\n", error);
        return EXIT_USAGE;
    }
    Course course = {.config = options.config, .T = options.T, .batch = options.effective_batch};
    course.device = options.device == DEVICE_GPU ? device_gpu_new(ops_gpu) : device_cpu_new(0);
    if (course.device == NULL || !prepare(&course, &options)) {
        return EXIT_USAGE;
    }
    size_t budget = options.fit > 0 ? options.fit : SIZE_MAX;
    if (plan_choose(&course.config, course.batch, course.T, budget, course.device, &course.rates,
                    &course.chosen) != 0) {
        fprintf(stderr, "pareto: nothing fits, so no plan is marked\n");
    }
    print_all(&course);
    device_free(course.device);
    free(course.ids);
    return stdout_flush() == 0 ? 0 : EXIT_RUN;
}
