/* Lab 03 in the probe: windows of micro-batches, on each of the three levels. What happens is seen
   from beside (grader/probes/watch.h). */
#include "grader/probes/03_accumulate.h"

#include <omp.h>

#include "common/lab03.h"
#include "grader/probe.h"
#include "grader/probes/watch.h"

enum { ARENA_BYTES = 256 << 20, MOST_MICRO = 64 };

/* For the hooks that get no context. */
static struct {
    const Wire *in;
    Wire *out;
    const int32_t *plan;
    Batch batch[MOST_MICRO];
    int micros;
    Trainer trainer;
    size_t windows; /* that the judge expects */
    size_t window;  /* done so far */
    size_t steps;   /* of the optimizer in this window */
} at;

/* ---- what is handed back --------------------------------------------------------------------- */

static void give_number(const char *name, uint64_t value) {
    ((uint64_t *)wire_get(at.out, name, WIRE_U64, NULL))[at.window] = value;
}

static void give_float(const char *name, float value) {
    ((float *)wire_get(at.out, name, WIRE_F32, NULL))[at.window] = value;
}

static void give_tensor(const char *what, const Param *param, const float *values) {
    char name[WIRE_NAME];
    hand_back(at.out, at.trainer.model->device,
              param_name(name, what, param, "window", (int)at.window), values, param->count);
}

static void give_gradients(const char *what) {
    hand_back_gradients(at.out, at.trainer.model, what, "window", (int)at.window);
}

static void give_update(void) {
    const Optimizer *optimizer = at.trainer.optimizer;
    for (int i = 0; i < at.trainer.model->param_count; i++) {
        const Param *param = &at.trainer.model->params[i];
        give_tensor(NAME_WEIGHT, param, (const float *)param->weight);
        give_tensor(NAME_M, param, optimizer->m[i]);
        give_tensor(NAME_V, param, optimizer->v[i]);
    }
}

static bool wanted(int what) {
    return at.window < at.windows && (at.plan[PLAN_WANTS] & what) != 0;
}

static void see_step(void *context, const Model *model) {
    (void)context, (void)model;
    watch_note(EVENT_STEP);
    at.steps++;
    if (wanted(WANT_GRADIENTS)) {
        give_gradients(NAME_GRADIENT);
    }
}

/* A window is over. More than the judge expects are counted, and not looked at. */
static void give_window(const StepReport *report) {
    if (at.window < at.windows) {
        give_float("loss", (float)report->loss);
        give_float("grad_norm", report->grad_norm);
        give_float("learning_rate", report->learning_rate);
        give_number("tokens", report->tokens);
        give_number("schedule.step", (uint64_t)at.trainer.schedule.step);
        give_number("optimizer.steps", at.steps);
        uint64_t *trace = wire_get(at.out, "trace", WIRE_U64, NULL);
        watch_take(trace + at.window * TRACE_LENGTH);
    }
    if (wanted(WANT_UPDATE)) {
        give_update();
    }
    if (wanted(WANT_LEFT)) {
        give_gradients(NAME_LEFT);
    }
    at.window++;
    at.steps = 0;
    *(uint64_t *)wire_get(at.out, "windows", WIRE_U64, NULL) = at.window;
}

/* ---- the trainer ----------------------------------------------------------------------------- */

static void load_batches(void) {
    at.micros = given_batches(at.in);
    CHECK(at.micros <= MOST_MICRO, "%d micro-batches", at.micros);
    for (int i = 0; i < at.micros; i++) {
        at.batch[i] = given_batch(at.in, i);
    }
}

/* Everything that is given; a device of `arena` bytes where it is the CPU, else a budget. */
static Memory *open_case(const Wire *in, Wire *out, size_t arena) {
    at.in = in;
    at.out = out;
    at.plan = wire_get(in, "plan", WIRE_I32, NULL);
    wire_get(out, "loss", WIRE_F32, &at.windows);
    omp_set_num_threads(1); /* the models are too small to share */
    bool gpu = at.plan[PLAN_GPU];
    Device *device = probe_device(gpu, arena);
    load_batches();
    Memory *memory =
        memory_new(device, (MemoryOptions){.budget = gpu ? arena : 0, .checked = !gpu});
    at.trainer = given_trainer(in, memory);
    at.trainer.optimizer->before_step = see_step;
    watch_model(at.trainer.model, at.batch, at.micros);
    return memory;
}

/* Looks for what was written past the end of a tensor. */
static void close_case(void) {
    memory_free(at.trainer.model->memory);
}

/* ---- cases ----------------------------------------------------------------------------------- */

/* Level 1: windows of `steps` micro-batches, the last with what is left. */
static void by_hand(const Wire *in, Wire *out) {
    open_case(in, out, ARENA_BYTES);
    int steps = at.plan[PLAN_STEPS];
    for (int first = 0; first < at.micros; first += steps) {
        int left = at.micros - first;
        StepReport report =
            accumulate_window(&at.trainer, at.batch + first, left < steps ? left : steps);
        give_window(&report);
    }
    close_case();
}

static void one_window(Accumulator *accumulator, Data *data, uint64_t *sync) {
    Batch batch;
    if (at.window < at.windows) {
        give_number("open.window", (uint64_t)accumulator->window);
        give_number("open.tokens", accumulator->tokens);
    }
    while (!accumulator->sync_gradients && data_next(data, &batch)) {
        accumulator_micro(accumulator, &batch);
        sync[data_position(data).row - 1] = accumulator->sync_gradients;
    }
    StepReport report = accumulator_step(accumulator);
    schedule_tick(&at.trainer.schedule);
    give_window(&report);
}

/* Level 2: the loop that level 3 will be, around the student's accumulator. */
static void accumulator(const Wire *in, Wire *out) {
    open_case(in, out, ARENA_BYTES);
    Data *data = data_from_batches(at.batch, at.micros);
    uint64_t *sync = wire_get(out, "sync_gradients", WIRE_U64, NULL);
    for (int epoch = 0; epoch < at.plan[PLAN_EPOCHS]; epoch++) {
        Accumulator window;
        accumulator_init(&window, &at.trainer, at.plan[PLAN_STEPS]);
        while (accumulator_open(&window, data)) {
            one_window(&window, data, sync);
        }
        data_next_epoch(data);
    }
    data_free(data);
    close_case();
}

static bool after_window(void *context, const StepReport *report) {
    CHECK(context == &at, "report() was not given its context");
    give_window(report);
    return at.window != (size_t)at.plan[PLAN_STOP];
}

static void run_epochs(void) {
    Data *data = data_from_batches(at.batch, at.micros);
    for (int epoch = 0; epoch < at.plan[PLAN_EPOCHS]; epoch++) {
        train_epoch(&at.trainer, data, at.plan[PLAN_STEPS], after_window, &at);
        data_next_epoch(data);
    }
    data_free(data);
    close_case();
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
    Trainer *trainer = &at.trainer;
    int steps = at.plan[PLAN_STEPS];
    for (int first = 0; first < at.micros; first += steps) {
        StepReport report = {0};
        for (int i = first; i < first + steps && i < at.micros; i++) {
            report.tokens += (size_t)at.batch[i].valid;
        }
        float share = 1.0f / (float)report.tokens;
        for (int i = first; i < first + steps && i < at.micros; i++) {
            report.loss += model_forward(trainer->model, &at.batch[i]) * (double)share;
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
