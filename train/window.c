/* The window of one update by a plan. The contract is in window.h. */
#include "train/window.h"

#include <stdlib.h>

#include "common/rng.h"
#include "labs/03_accumulate/contract.h"
#include "labs/05_fp16/contract.h"
#include "train/measure.h"
#include "train/techniques.h"

void course_fill(Course *course, uint64_t seed) {
    int N = course->batch * course->T;
    Rng rng = rng_new(seed, RNG_DATA);
    course->ids = malloc(((size_t)N + 1) * sizeof *course->ids);
    CHECK(course->ids != NULL, "no memory for %d tokens", N);
    for (int i = 0; i <= N; i++) {
        course->ids[i] = (int32_t)rng_below(&rng, (uint64_t)course->config.V);
    }
}

void course_free(Course *course) {
    free(course->ids);
}

void course_run(const Course *course, const Plan *plan, int repeat, double *ms, MemoryUse *peak) {
    ModelConfig config = plan_config(&course->config, plan);
    int N = plan->micro_batch * course->T;
    Batch *batches = calloc((size_t)plan->window, sizeof *batches);
    CHECK(batches != NULL, "no memory for %d micro-batches", plan->window);
    for (int k = 0; k < plan->window; k++) {
        const int32_t *ids = course->ids + (size_t)k * (size_t)N;
        batches[k] = (Batch){
            .B = plan->micro_batch, .T = course->T, .tokens = ids, .targets = ids + 1, .valid = N};
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
    for (int i = 0; i <= repeat; i++) {
        double began = now_ms();
        accumulate_window(&trainer, batches, plan->window);
        device_synchronize(course->device);
        if (i > 0) {
            ms[i - 1] = now_ms() - began;
        }
    }
    *peak = memory_peak(memory);
    optimizer_free(trainer.optimizer);
    model_free(trainer.model);
    memory_free(memory);
    free(batches);
}

/* Segments of L blocks are none, and flash attention has no probabilities to run again. */
static void each_checkpoint(int L, Plan plan, course_plan_fn *see, void *context) {
    for (int segment = 0; segment < L; segment++) {
        for (int only = 0; only <= (plan.attention == ATTENTION_PLAIN); only++) {
            plan.checkpoint = (Checkpoint){segment, only != 0};
            see(context, &plan);
        }
    }
}

void course_each(int L, int batch, course_plan_fn *see, void *context) {
    static const Precision precisions[] = {F32, F16, BF16};
    for (int micro = 1; micro <= batch; micro++) {
        for (int i = 0; i < 6 && batch % micro == 0; i++) {
            Plan plan = {.micro_batch = micro, .window = batch / micro};
            plan.precision = precisions[i / 2];
            plan.attention = i % 2 ? ATTENTION_FLASH : ATTENTION_PLAIN;
            each_checkpoint(L, plan, see, context);
        }
    }
}
