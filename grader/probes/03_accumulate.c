/* Lab 03 in the probe: windows of micro-batches, on each of the three levels. What happens is seen
   from beside: ops and device are called through tables, and these here write down what they are
   called for before they do it. */
#include "grader/probes/03_accumulate.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "common/lab03.h"
#include "grader/probe.h"

enum { ARENA_BYTES = 256 << 20, MOST_MICRO = 64 };

/* Ops and devices have no place for a context of their own. */
static struct Watch {
    const Wire *in;
    Wire *out;
    const int32_t *plan;
    Batch batch[MOST_MICRO];
    int micros;
    Trainer trainer;
    Device *device;
    Ops ops;      /* as the model sees them */
    Ops real_ops; /* what they are */
    void (*real_fill)(Device *device, void *data, int byte, size_t bytes);
    size_t windows; /* that the judge expects */
    size_t window;  /* done so far */
    size_t steps;   /* of the optimizer in this window */
    int events;
    uint64_t trace[TRACE_LENGTH];
} watch;

/* ---- what is seen ---------------------------------------------------------------------------- */

static void note(WindowEvent event) {
    if (watch.events < TRACE_LENGTH) {
        watch.trace[watch.events++] = event;
    }
}

/* For what is called once for each parameter. */
static void note_run(WindowEvent event) {
    if (watch.events == 0 || watch.trace[watch.events - 1] != event) {
        note(event);
    }
}

static WindowEvent which_forward(const int32_t *tokens, int B, int T) {
    for (int i = 0; i < watch.micros; i++) {
        const Batch *batch = &watch.batch[i];
        size_t bytes = (size_t)B * (size_t)T * sizeof *tokens;
        if (batch->B == B && batch->T == T && memcmp(batch->tokens, tokens, bytes) == 0) {
            return EVENT_FORWARD + (WindowEvent)i;
        }
    }
    return EVENT_STRANGER;
}

static void see_embedding(Real *out, const int32_t *tokens, const Real *wte, const Real *wpe, int B,
                          int T, int C) {
    note(which_forward(tokens, B, T));
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
    for (int i = 0; i < model->param_count; i++) {
        if (data == model->params[i].grad) {
            note_run(EVENT_ZERO);
        }
    }
    watch.real_fill(device, data, byte, bytes);
}

/* The tables are the CPU's; on a GPU only the optimizer's hook looks. */
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

/* ---- what is handed back --------------------------------------------------------------------- */

static void give_number(const char *name, uint64_t value) {
    ((uint64_t *)wire_get(watch.out, name, WIRE_U64, NULL))[watch.window] = value;
}

static void give_float(const char *name, float value) {
    ((float *)wire_get(watch.out, name, WIRE_F32, NULL))[watch.window] = value;
}

static void give_tensor(const char *what, const Param *param, const float *values) {
    char name[WIRE_NAME];
    size_t count;
    window_name(name, what, param, (int)watch.window);
    float *to = wire_get(watch.out, name, WIRE_F32, &count);
    CHECK(count == param->count, "%s: %zu numbers", name, count);
    device_download(watch.device, to, values, count * sizeof *to);
}

static void give_gradients(const char *what) {
    const Model *model = watch.trainer.model;
    for (int i = 0; i < model->param_count; i++) {
        give_tensor(what, &model->params[i], model->params[i].grad);
    }
}

static void give_update(void) {
    const Optimizer *optimizer = watch.trainer.optimizer;
    for (int i = 0; i < watch.trainer.model->param_count; i++) {
        const Param *param = &watch.trainer.model->params[i];
        give_tensor(NAME_WEIGHT, param, (const float *)param->weight);
        give_tensor(NAME_M, param, optimizer->m[i]);
        give_tensor(NAME_V, param, optimizer->v[i]);
    }
}

static bool wanted(int what) {
    return watch.window < watch.windows && (watch.plan[PLAN_WANTS] & what) != 0;
}

static void see_step(void *context, const Model *model) {
    (void)context, (void)model;
    note(EVENT_STEP);
    watch.steps++;
    if (wanted(WANT_GRADIENTS)) {
        give_gradients(NAME_GRADIENT);
    }
}

/* A window is over. More than the judge expects are counted, and not looked at. */
static void give_window(const StepReport *report) {
    if (watch.window < watch.windows) {
        give_float("loss", (float)report->loss);
        give_float("grad_norm", report->grad_norm);
        give_float("learning_rate", report->learning_rate);
        give_number("tokens", report->tokens);
        give_number("schedule.step", (uint64_t)watch.trainer.schedule.step);
        give_number("optimizer.steps", watch.steps);
        uint64_t *trace = wire_get(watch.out, "trace", WIRE_U64, NULL);
        memcpy(trace + watch.window * TRACE_LENGTH, watch.trace, sizeof watch.trace);
    }
    if (wanted(WANT_UPDATE)) {
        give_update();
    }
    if (wanted(WANT_LEFT)) {
        give_gradients(NAME_LEFT);
    }
    watch.window++;
    watch.steps = 0;
    watch.events = 0;
    memset(watch.trace, 0, sizeof watch.trace);
    *(uint64_t *)wire_get(watch.out, "windows", WIRE_U64, NULL) = watch.window;
}

/* ---- the trainer ----------------------------------------------------------------------------- */

static void load_weights(Model *model) {
    const float *weights = wire_get(watch.in, "weights", WIRE_F32, NULL);
    for (int i = 0; i < model->param_count; i++) {
        model_upload_weight(model, &model->params[i], weights);
        weights += model->params[i].count;
    }
}

/* Micro-batches lie one after the other: their shapes in "shapes", (B, T) each. */
static void load_batches(void) {
    size_t numbers;
    const int32_t *shape = wire_get(watch.in, "shapes", WIRE_I32, &numbers);
    const int32_t *tokens = wire_get(watch.in, "tokens", WIRE_I32, NULL);
    const int32_t *targets = wire_get(watch.in, "targets", WIRE_I32, NULL);
    watch.micros = (int)(numbers / 2);
    CHECK(watch.micros <= MOST_MICRO, "%d micro-batches", watch.micros);
    for (int i = 0; i < watch.micros; i++, shape += 2) {
        Batch batch = {.B = shape[0], .T = shape[1], .tokens = tokens, .targets = targets};
        int N = batch.B * batch.T;
        for (int j = 0; j < N; j++) {
            batch.valid += targets[j] != IGNORE_INDEX;
        }
        watch.batch[i] = batch;
        tokens += N;
        targets += N;
    }
}

static Trainer new_trainer(Memory *memory) {
    ModelConfig config = probe_config(watch.in);
    const float *adamw = wire_get(watch.in, "adamw", WIRE_F32, NULL);
    const float *rate = wire_get(watch.in, "rate", WIRE_F32, NULL);
    const int32_t *schedule = wire_get(watch.in, "schedule", WIRE_I32, NULL);
    uint64_t seed = *(const uint64_t *)wire_get(watch.in, "seed", WIRE_U64, NULL);
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

/* Everything that is given; a device of `arena` bytes where it is the CPU, else a budget. */
static Memory *open_case(const Wire *in, Wire *out, size_t arena) {
    watch.in = in;
    watch.out = out;
    watch.plan = wire_get(in, "plan", WIRE_I32, NULL);
    wire_get(out, "loss", WIRE_F32, &watch.windows);
    omp_set_num_threads(1); /* the models are too small to share */
    watch.device = watch.plan[PLAN_GPU] ? device_gpu_new() : device_cpu_new(arena);
    CHECK(watch.device != NULL, "no device with %zu bytes", arena);
    load_batches();
    bool gpu = watch.plan[PLAN_GPU];
    Memory *memory =
        memory_new(watch.device, (MemoryOptions){.budget = gpu ? arena : 0, .checked = !gpu});
    watch.trainer = new_trainer(memory);
    if (!watch.plan[PLAN_GPU]) {
        put_under_watch(watch.trainer.model);
    }
    return memory;
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Level 1: windows of `steps` micro-batches, the last with what is left. */
static void by_hand(const Wire *in, Wire *out) {
    open_case(in, out, ARENA_BYTES);
    int steps = watch.plan[PLAN_STEPS];
    for (int first = 0; first < watch.micros; first += steps) {
        int left = watch.micros - first;
        StepReport report =
            accumulate_window(&watch.trainer, watch.batch + first, left < steps ? left : steps);
        give_window(&report);
    }
}

static void one_window(Accumulator *accumulator, Data *data, uint64_t *sync) {
    Batch batch;
    if (watch.window < watch.windows) {
        give_number("open.window", (uint64_t)accumulator->window);
        give_number("open.tokens", accumulator->tokens);
    }
    while (!accumulator->sync_gradients && data_next(data, &batch)) {
        accumulator_micro(accumulator, &batch);
        sync[data_position(data).row - 1] = accumulator->sync_gradients;
    }
    StepReport report = accumulator_step(accumulator);
    schedule_tick(&watch.trainer.schedule);
    give_window(&report);
}

/* Level 2: the loop that level 3 will be, around the student's accumulator. */
static void accumulator(const Wire *in, Wire *out) {
    open_case(in, out, ARENA_BYTES);
    Data *data = data_from_batches(watch.batch, watch.micros);
    uint64_t *sync = wire_get(out, "sync_gradients", WIRE_U64, NULL);
    for (int epoch = 0; epoch < watch.plan[PLAN_EPOCHS]; epoch++) {
        Accumulator window;
        accumulator_init(&window, &watch.trainer, watch.plan[PLAN_STEPS]);
        while (accumulator_open(&window, data)) {
            one_window(&window, data, sync);
        }
        data_next_epoch(data);
    }
    data_free(data);
}

static bool after_window(void *context, const StepReport *report) {
    CHECK(context == &watch, "report() was not given its context");
    give_window(report);
    return watch.window != (size_t)watch.plan[PLAN_STOP];
}

static void run_epochs(void) {
    Data *data = data_from_batches(watch.batch, watch.micros);
    for (int epoch = 0; epoch < watch.plan[PLAN_EPOCHS]; epoch++) {
        train_epoch(&watch.trainer, data, watch.plan[PLAN_STEPS], after_window, &watch);
        data_next_epoch(data);
    }
    data_free(data);
}

/* Level 3. */
static void epochs(const Wire *in, Wire *out) {
    open_case(in, out, ARENA_BYTES);
    run_epochs();
}

/* The same in an arena that holds one micro-batch and no more. */
static void tight(const Wire *in, Wire *out) {
    open_case(in, out, *(const uint64_t *)wire_get(in, "arena", WIRE_U64, NULL));
    run_epochs();
}

/* Without the submission: backward of each micro-batch in turn, then the update. */
static void plain(const Wire *in, Wire *out) {
    Memory *memory = open_case(in, out, ARENA_BYTES);
    Trainer *trainer = &watch.trainer;
    int steps = watch.plan[PLAN_STEPS];
    for (int first = 0; first < watch.micros; first += steps) {
        StepReport report = {0};
        for (int i = first; i < first + steps && i < watch.micros; i++) {
            report.tokens += (size_t)watch.batch[i].valid;
        }
        float share = 1.0f / (float)report.tokens;
        for (int i = first; i < first + steps && i < watch.micros; i++) {
            report.loss += model_forward(trainer->model, &watch.batch[i]) * (double)share;
            model_backward(trainer->model, share);
        }
        report.grad_norm = optimizer_clip(trainer->model, trainer->max_grad_norm);
        report.learning_rate = schedule_rate(&trainer->schedule);
        optimizer_step(trainer->optimizer, report.learning_rate);
        model_zero_grad(trainer->model);
        schedule_tick(&trainer->schedule);
        give_window(&report);
    }
    MemoryUse peak = memory_peak(memory);
    *(uint64_t *)wire_get(out, "peak", WIRE_U64, NULL) =
        memory_total(&peak) + memory_padding(memory);
}

const ProbeCase probe_cases[] = {
    {"by_hand", by_hand}, {"accumulator", accumulator},
    {"epochs", epochs},   {"tight", tight},
    {"plain", plain},     {NULL, NULL},
};
