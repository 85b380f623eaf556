/* The probe's side of windows: hands back gradients, weights and reports. The contract is in
   probe_windows.h. */
#define _GNU_SOURCE
#include "grader/probe_windows.h"

#include <omp.h>
#include <unistd.h>

#include "grader/probe.h"
#include "grader/probe_watch.h"

WindowRun window_run;

/* ---- what is handed back --------------------------------------------------------------------- */

bool window_wanted(int what) {
    return window_run.number < window_run.expected && (window_run.option[OPTION_WANTS] & what) != 0;
}

void window_give_gradients(const char *what) {
    hand_back_gradients(window_run.out, window_run.trainer.model, what, window_run.when,
                        (int)window_run.number);
}

static void window_give_tensor(const char *what, const Param *param, const float *values) {
    char name[WIRE_NAME];
    hand_back(window_run.out, window_run.trainer.model->device,
              param_name(name, what, param, window_run.when, (int)window_run.number), values,
              param->count);
}

static void window_give_weight(const Param *param) {
    char name[WIRE_NAME];
    param_name(name, NAME_WEIGHT, param, window_run.when, (int)window_run.number);
    model_download_weight(window_run.trainer.model, param,
                          wire_get(window_run.out, name, WIRE_F32, NULL));
}

void window_give_update(void) {
    const Optimizer *optimizer = window_run.trainer.optimizer;
    for (int i = 0; i < optimizer->model->param_count; i++) {
        const Param *param = &optimizer->model->params[i];
        window_give_weight(param);
        if (optimizer->master != NULL) {
            window_give_tensor(NAME_MASTER, param, optimizer->master[i]);
        }
        window_give_tensor(NAME_M, param, optimizer->m[i]);
        window_give_tensor(NAME_V, param, optimizer->v[i]);
    }
}

void window_give_number(const char *name, uint64_t value) {
    ((uint64_t *)wire_get(window_run.out, name, WIRE_U64, NULL))[window_run.number] = value;
}

void window_give_float(const char *name, float value) {
    ((float *)wire_get(window_run.out, name, WIRE_F32, NULL))[window_run.number] = value;
}

void window_give_report(const StepReport *report) {
    if (window_run.number < window_run.expected) {
        window_give_float("loss", (float)report->loss);
        window_give_float("grad_norm", report->grad_norm);
        window_give_float("learning_rate", report->learning_rate);
        window_give_number("tokens", report->tokens);
        window_give_number("report.skipped", report->skipped);
        window_give_number("schedule.step", (uint64_t)window_run.trainer.schedule.step);
        uint64_t *trace = wire_get(window_run.out, "trace", WIRE_U64, NULL);
        watch_take(trace + window_run.number * TRACE_LENGTH);
    }
}

/* For Optimizer.before_step. */
static void window_see_step(void *context, const Model *model) {
    (void)context, (void)model;
    watch_note(EVENT_STEP);
    window_run.steps++;
    if (window_wanted(WANT_GRADIENTS)) {
        window_give_gradients(NAME_GRADIENT);
    }
}

void window_done(void) {
    if (window_wanted(WANT_UPDATE)) {
        window_give_update();
    }
    if (window_wanted(WANT_LEFT)) {
        window_give_gradients(NAME_LEFT);
    }
    window_run.number++;
    window_run.steps = 0;
}

void window_end_early(void) {
    if (window_run.steps == 0) {
        window_give_gradients(NAME_GRADIENT); /* else window_see_step() has */
    }
    wire_finish(window_run.out);
    _exit(0);
}

/* ---- from the first to the last -------------------------------------------------------------- */

static void window_load_batches(void) {
    window_run.batches = given_batches(window_run.in);
    CHECK(window_run.batches <= WINDOW_BATCHES, "%d micro-batches", window_run.batches);
    for (int i = 0; i < window_run.batches; i++) {
        window_run.batch[i] = given_batch(window_run.in, i);
    }
}

void window_run_open(const Wire *in, Wire *out, const char *when, WindowDevice where) {
    window_run = (WindowRun){.in = in, .out = out, .when = when};
    window_run.option = wire_get(in, "options", WIRE_I32, NULL);
    wire_get(out, "grad_norm", WIRE_F32, &window_run.expected);
    omp_set_num_threads(1); /* the models are too small to share */
    bool gpu = window_run.option[OPTION_GPU];
    Device *device = probe_device(gpu, where.arena);
    window_load_batches();
    MemoryOptions options = {.budget = gpu && where.limit ? where.arena : 0,
                             .checked = where.gpu_checked || !device->simulated};
    window_run.trainer = given_trainer(in, memory_new(device, options));
    window_run.trainer.optimizer->before_step = window_see_step;
    if (!where.unwatched) {
        watch_model(window_run.trainer.model, window_run.batch, window_run.batches);
    }
}

void window_run_close(void) {
    memory_free(window_run.trainer.model->memory);
}
