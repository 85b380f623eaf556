/* Lab 01 in the probe: a trainer made of what the judge gives takes a few steps. What happens is
   seen from beside: the ops and the device are called through tables, and these here write down
   what they are called for before they do it. */
#define _GNU_SOURCE
#include "grader/probes/01_loop.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/lab.h"
#include "common/lab01.h"
#include "grader/picture.h"
#include "grader/probe.h"

enum { ARENA_BYTES = 256 << 20 };

/* Ops and devices have no place for a context of their own. */
static struct Watch {
    const Wire *in;
    Wire *out;
    Trainer trainer;
    Device *device;
    Ops ops;      /* as the model sees them */
    Ops real_ops; /* what they are */
    void (*real_fill)(Device *device, void *data, int byte, size_t bytes);
    int step;
    int events;
    uint64_t trace[TRACE_LENGTH];
} watch;

static void note(LoopEvent event) {
    if (watch.events < TRACE_LENGTH) {
        watch.trace[watch.events++] = event;
    }
}

/* For what is called once for each parameter. */
static void note_run(LoopEvent event) {
    if (watch.events == 0 || watch.trace[watch.events - 1] != event) {
        note(event);
    }
}

static bool noted(LoopEvent event) {
    for (int i = 0; i < watch.events; i++) {
        if (watch.trace[i] == event) {
            return true;
        }
    }
    return false;
}

/* ---- what is seen ---------------------------------------------------------------------------- */

static void see_embedding(Real *out, const int32_t *tokens, const Real *wte, const Real *wpe, int B,
                          int T, int C) {
    note(watch.trainer.model->pass.train ? EVENT_FORWARD : EVENT_LOOK);
    watch.real_ops.embedding_forward(out, tokens, wte, wpe, B, T, C);
}

static void see_crossentropy(Real *dlogits, const Real *logits, const float *lse,
                             const int32_t *targets, float dloss, int N, int V) {
    note(EVENT_BACKWARD);
    watch.real_ops.crossentropy_backward(dlogits, logits, lse, targets, dloss, N, V);
}

static void see_sumsq(float *out, const float *x, size_t n, const Workspace *workspace) {
    note_run(EVENT_NORM);
    watch.real_ops.sumsq(out, x, n, workspace);
}

static void see_scale(float *x, size_t n, float factor) {
    note_run(EVENT_SCALE);
    watch.real_ops.scale(x, n, factor);
}

static void see_fill(Device *device, void *data, int byte, size_t bytes) {
    const Model *model = watch.trainer.model;
    for (int i = 0; model != NULL && i < model->param_count; i++) {
        if (data == model->params[i].grad) {
            note_run(EVENT_ZERO);
        }
    }
    watch.real_fill(device, data, byte, bytes);
}

/* ---- what is handed back --------------------------------------------------------------------- */

static bool wanted(int what) {
    return (*(const int32_t *)wire_get(watch.in, "wants", WIRE_I32, NULL) & what) != 0;
}

static void give_back(const char *what, const Param *param, const float *values) {
    char name[WIRE_NAME];
    size_t count;
    float *to = wire_get(watch.out, loop_name(name, what, param, watch.step), WIRE_F32, &count);
    CHECK(count == param->count, "%s: %zu numbers", name, count);
    device_download(watch.device, to, values, count * sizeof *to);
}

static void give_gradients(const char *what) {
    const Model *model = watch.trainer.model;
    for (int i = 0; i < model->param_count; i++) {
        give_back(what, &model->params[i], model->params[i].grad);
    }
}

static void see_step(void *context, const Model *model) {
    (void)context, (void)model;
    note(EVENT_STEP);
    if (wanted(WANT_GRADIENTS)) {
        give_gradients(NAME_GRADIENT);
    }
}

static void give_update(void) {
    const Model *model = watch.trainer.model;
    const Optimizer *optimizer = watch.trainer.optimizer;
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        give_back(NAME_WEIGHT, param, (const float *)param->weight);
        give_back(NAME_M, param, optimizer->m[i]);
        give_back(NAME_V, param, optimizer->v[i]);
    }
}

static void give_report(const StepReport *report) {
    int step = watch.step;
    ((float *)wire_get(watch.out, "loss", WIRE_F32, NULL))[step] = (float)report->loss;
    ((float *)wire_get(watch.out, "grad_norm", WIRE_F32, NULL))[step] = report->grad_norm;
    ((float *)wire_get(watch.out, "learning_rate", WIRE_F32, NULL))[step] = report->learning_rate;
    ((uint64_t *)wire_get(watch.out, "tokens", WIRE_U64, NULL))[step] = report->tokens;
    ((uint64_t *)wire_get(watch.out, "schedule.step", WIRE_U64, NULL))[step] =
        (uint64_t)watch.trainer.schedule.step;
    uint64_t *trace = wire_get(watch.out, "trace", WIRE_U64, NULL);
    memcpy(trace + step * TRACE_LENGTH, watch.trace, sizeof watch.trace);
}

/* A later hole ends the program in the first step; what the tasks before it did is judged. */
static void after_hole(int status, void *context) {
    (void)context;
    LoopEnough enough = *(const int32_t *)wire_get(watch.in, "enough", WIRE_I32, NULL);
    if (status != EXIT_TODO || watch.step > 0) {
        return;
    }
    if (enough == ENOUGH_ALL || !noted(enough == ENOUGH_UPDATE ? EVENT_STEP : EVENT_BACKWARD)) {
        return;
    }
    if (!noted(EVENT_STEP)) {
        give_gradients(NAME_GRADIENT); /* else see_step() has */
    }
    if (wanted(WANT_UPDATE)) {
        give_update();
    }
    wire_finish(watch.out);
    _exit(0);
}

/* ---- the trainer ----------------------------------------------------------------------------- */

static void put_under_watch(Model *model) {
    watch.real_ops = watch.ops = *model->ops;
    watch.real_fill = watch.device->fill;
    watch.ops.embedding_forward = see_embedding;
    watch.ops.crossentropy_backward = see_crossentropy;
    watch.ops.sumsq = see_sumsq;
    watch.ops.scale = see_scale;
    watch.device->fill = see_fill;
    model->ops = &watch.ops;
}

static void load_weights(Model *model) {
    const float *weights = wire_get(watch.in, "weights", WIRE_F32, NULL);
    for (int i = 0; i < model->param_count; i++) {
        model_upload_weight(model, &model->params[i], weights);
        weights += model->params[i].count;
    }
}

static Trainer build(void) {
    ModelConfig config = probe_config(watch.in);
    const float *adamw = wire_get(watch.in, "adamw", WIRE_F32, NULL);
    const float *rate = wire_get(watch.in, "rate", WIRE_F32, NULL);
    const int32_t *schedule = wire_get(watch.in, "schedule", WIRE_I32, NULL);
    uint64_t seed = *(const uint64_t *)wire_get(watch.in, "seed", WIRE_U64, NULL);
    Memory *memory = memory_new(watch.device, (MemoryOptions){.checked = true});
    Trainer trainer = {.model = model_new(&config, memory, seed)};
    load_weights(trainer.model);
    trainer.optimizer = optimizer_new(trainer.model, (AdamW){.beta1 = adamw[0],
                                                             .beta2 = adamw[1],
                                                             .epsilon = adamw[2],
                                                             .weight_decay = adamw[3]});
    trainer.optimizer->before_step = see_step;
    trainer.schedule = (Schedule){.learning_rate = rate[0],
                                  .decay = (Decay)schedule[0],
                                  .warmup_steps = schedule[1],
                                  .max_steps = schedule[2]};
    trainer.max_grad_norm = rate[1];
    return trainer;
}

/* Batches lie one after the other: their shapes in "shapes", (B, T) each. */
static Batch batch_at(int step) {
    const int32_t *shape = wire_get(watch.in, "shapes", WIRE_I32, NULL);
    Batch batch = {.tokens = wire_get(watch.in, "tokens", WIRE_I32, NULL),
                   .targets = wire_get(watch.in, "targets", WIRE_I32, NULL)};
    for (; step > 0; step--, shape += 2) {
        batch.tokens += (size_t)shape[0] * (size_t)shape[1];
        batch.targets += (size_t)shape[0] * (size_t)shape[1];
    }
    batch.B = shape[0];
    batch.T = shape[1];
    for (int i = 0; i < batch.B * batch.T; i++) {
        batch.valid += batch.targets[i] != IGNORE_INDEX;
    }
    return batch;
}

static void one_step(int step) {
    Batch batch = batch_at(step);
    watch.step = step;
    watch.events = 0;
    memset(watch.trace, 0, sizeof watch.trace);
    memory_record(watch.trainer.model->memory, true);
    StepReport report = loop_step(&watch.trainer, &batch);
    picture_give(watch.trainer.model->memory, wire_get(watch.out, "memory", WIRE_U64, NULL));
    give_report(&report);
    if (wanted(WANT_UPDATE)) {
        give_update();
    }
    if (wanted(WANT_LEFT)) {
        give_gradients(NAME_LEFT);
    }
}

static void steps(const Wire *in, Wire *out) {
    size_t numbers;
    wire_get(in, "shapes", WIRE_I32, &numbers);
    watch.in = in;
    watch.out = out;
    omp_set_num_threads(1); /* the model is too small to share */
    watch.device = device_cpu_new(ARENA_BYTES);
    CHECK(watch.device != NULL, "no address range of %d bytes", ARENA_BYTES);
    watch.trainer = build();
    put_under_watch(watch.trainer.model);
    on_exit(after_hole, NULL);
    for (int step = 0; step < (int)(numbers / 2); step++) {
        one_step(step);
    }
}

const ProbeCase probe_cases[] = {{"steps", steps}, {NULL, NULL}};
