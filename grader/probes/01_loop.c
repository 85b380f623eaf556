/* Lab 01 in the probe: a trainer made of what the judge gives takes a few steps, and what happens
   is seen from beside (grader/probes/watch.h). */
#define _GNU_SOURCE
#include "grader/probes/01_loop.h"

#include <omp.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/lab.h"
#include "common/lab01.h"
#include "grader/picture.h"
#include "grader/probe.h"
#include "grader/probes/watch.h"

enum { ARENA_BYTES = 256 << 20, MOST_STEPS = 16 };

/* For the hooks that get no context. */
static struct {
    const Wire *in;
    Wire *out;
    Trainer trainer;
    int step;
} at;

/* ---- what is handed back --------------------------------------------------------------------- */

static bool wanted(int what) {
    return (*(const int32_t *)wire_get(at.in, "wants", WIRE_I32, NULL) & what) != 0;
}

static void give_gradients(const char *what) {
    hand_back_gradients(at.out, at.trainer.model, what, "step", at.step);
}

static void give_back(const char *what, const Param *param, const float *values) {
    char name[WIRE_NAME];
    hand_back(at.out, at.trainer.model->device, param_name(name, what, param, "step", at.step),
              values, param->count);
}

static void see_step(void *context, const Model *model) {
    (void)context, (void)model;
    watch_note(EVENT_STEP);
    if (wanted(WANT_GRADIENTS)) {
        give_gradients(NAME_GRADIENT);
    }
}

static void give_update(void) {
    const Model *model = at.trainer.model;
    const Optimizer *optimizer = at.trainer.optimizer;
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        give_back(NAME_WEIGHT, param, (const float *)param->weight);
        give_back(NAME_M, param, optimizer->m[i]);
        give_back(NAME_V, param, optimizer->v[i]);
    }
}

static void give_report(const StepReport *report) {
    int step = at.step;
    ((float *)wire_get(at.out, "loss", WIRE_F32, NULL))[step] = (float)report->loss;
    ((float *)wire_get(at.out, "grad_norm", WIRE_F32, NULL))[step] = report->grad_norm;
    ((float *)wire_get(at.out, "learning_rate", WIRE_F32, NULL))[step] = report->learning_rate;
    ((uint64_t *)wire_get(at.out, "tokens", WIRE_U64, NULL))[step] = report->tokens;
    ((uint64_t *)wire_get(at.out, "schedule.step", WIRE_U64, NULL))[step] =
        (uint64_t)at.trainer.schedule.step;
    uint64_t *trace = wire_get(at.out, "trace", WIRE_U64, NULL);
    watch_take(trace + step * TRACE_LENGTH);
}

/* A later hole ends the program in the first step; what the tasks before it did is judged. */
static void after_hole(int status, void *context) {
    (void)context;
    LoopEnough enough = *(const int32_t *)wire_get(at.in, "enough", WIRE_I32, NULL);
    if (status != EXIT_TODO || at.step > 0) {
        return;
    }
    if (enough == ENOUGH_ALL ||
        !watch_noted(enough == ENOUGH_UPDATE ? EVENT_STEP : EVENT_BACKWARD)) {
        return;
    }
    if (!watch_noted(EVENT_STEP)) {
        give_gradients(NAME_GRADIENT); /* else see_step() has */
    }
    if (wanted(WANT_UPDATE)) {
        give_update();
    }
    wire_finish(at.out);
    _exit(0);
}

/* ---- the steps ------------------------------------------------------------------------------- */

static void one_step(int step) {
    Batch batch = given_batch(at.in, step);
    at.step = step;
    memory_record(at.trainer.model->memory, true);
    StepReport report = loop_step(&at.trainer, &batch);
    picture_give(at.trainer.model->memory, wire_get(at.out, "memory", WIRE_U64, NULL));
    give_report(&report);
    if (wanted(WANT_UPDATE)) {
        give_update();
    }
    if (wanted(WANT_LEFT)) {
        give_gradients(NAME_LEFT);
    }
}

static void steps(const Wire *in, Wire *out) {
    static Batch batches[MOST_STEPS];
    int count = given_batches(in);
    CHECK(count <= MOST_STEPS, "%d steps", count);
    for (int i = 0; i < count; i++) {
        batches[i] = given_batch(in, i);
    }
    at.in = in;
    at.out = out;
    omp_set_num_threads(1); /* the model is too small to share */
    bool gpu = *(const int32_t *)wire_get(in, "gpu", WIRE_I32, NULL);
    Device *device = probe_device(gpu, ARENA_BYTES);
    at.trainer = given_trainer(in, memory_new(device, (MemoryOptions){.checked = true}));
    at.trainer.optimizer->before_step = see_step;
    watch_model(at.trainer.model, batches, count);
    on_exit(after_hole, NULL);
    for (int step = 0; step < count; step++) {
        one_step(step);
    }
    memory_free(at.trainer.model->memory); /* looks for what was written past the end of a tensor */
}

const ProbeCase probe_cases[] = {{"steps", steps}, {NULL, NULL}};
