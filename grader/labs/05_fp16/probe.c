/* Lab 05 in the probe: the scaler by itself, and windows in half precision, some with a number in a
   gradient that is not finite. The two ops are in probe_ops.c,
   another trainer is in part_second_trainer.c. */
#include "grader/labs/05_fp16/part_second_trainer.h"
#include "grader/labs/05_fp16/protocol.h"

#include <math.h>
#include <string.h>

#include "grader/probe.h"
#include "grader/probe_techniques.h"
#include "labs/03_accumulate/contract.h"
#include "labs/05_fp16/contract.h"

enum { ARENA_BYTES = 256 << 20 };

static float *wire_floats(const Wire *wire, const char *name) {
    return wire_get(wire, name, WIRE_F32, NULL);
}

/* ---- the scaler ------------------------------------------------------------------------------ */

static Scaler given_scaler(const Wire *in) {
    const float *f = wire_floats(in, "scaler");
    const int32_t *counts = wire_get(in, "counts", WIRE_I32, NULL);
    return (Scaler){.scale = f[0],
                    .growth = f[1],
                    .backoff = f[2],
                    .floor = f[3],
                    .interval = counts[0],
                    .good_steps = counts[1]};
}

static void scaler_start(const Wire *in, Wire *out) {
    (void)in;
    Scaler scaler = {-1, -1, -1, -1, -1, -1};
    scaler_init(&scaler);
    float *values = wire_floats(out, "init");
    const float got[] = {scaler.scale, scaler.growth,          scaler.backoff,
                         scaler.floor, (float)scaler.interval, (float)scaler.good_steps};
    memcpy(values, got, sizeof got);
}

/* Whether a scaler is no longer set as it was given. */
static bool scaler_has_changed(const Scaler *scaler, const Wire *in) {
    const Scaler given = given_scaler(in);
    return scaler->growth != given.growth || scaler->backoff != given.backoff ||
           scaler->floor != given.floor || scaler->interval != given.interval;
}

/* Scalers take turns: the second sees the script from its end, the third has an interval of 1. All
   that one knows stands in its structure, so none knows of the others. */
static void scaler_script(const Wire *in, Wire *out) {
    size_t steps;
    const int32_t *found = wire_get(in, "found_inf", WIRE_I32, &steps);
    static const char *const scale[] = {"scale", "other scale"};
    static const char *const good[] = {"good_steps", "other good_steps"};
    Scaler scaler[] = {given_scaler(in), given_scaler(in)}, quick = given_scaler(in);
    quick.interval = 1;
    quick.good_steps = 0;
    for (size_t i = 0; i < steps; i++) {
        for (int k = 0; k < 2; k++) {
            scaler_update(&scaler[k], found[k == 0 ? i : steps - 1 - i] != 0);
            wire_floats(out, scale[k])[i] = scaler[k].scale;
            ((uint64_t *)wire_get(out, good[k], WIRE_U64, NULL))[i] =
                (uint64_t)(int64_t)scaler[k].good_steps;
        }
        scaler_update(&quick, found[i] != 0);
        wire_floats(out, "quick scale")[i] = quick.scale;
    }
    *(uint64_t *)wire_get(out, "changed", WIRE_U64, NULL) =
        scaler_has_changed(&scaler[0], in) || scaler_has_changed(&scaler[1], in);
}

/* ---- windows --------------------------------------------------------------------------------- */

/* Ops have no place for a context of their own. */
static struct MixedRun {
    Mixed mixed;
    Ops ops;      /* as the model sees them */
    Ops real_ops; /* what they are */
    MixedWindow window;
    int micros;      /* backwards so far, in this window */
    size_t unscaled; /* numbers that have been unscaled */
} mixed_run;

/* Weights, masters, m, v, gradients, each of all parameters. */
static void mixed_give_states(void) {
    char name[WIRE_NAME];
    size_t count;
    const Optimizer *optimizer = window_run.trainer.optimizer;
    const Model *model = optimizer->model;
    op_name(name, NAME_STATES, (int)window_run.number);
    float *to = wire_get(window_run.out, name, WIRE_F32, &count);
    size_t P = count / 5;
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        size_t bytes = param->count * sizeof *to;
        model_download_weight(model, param, to);
        device_download(model->device, to + P, optimizer->master[i], bytes);
        device_download(model->device, to + 2 * P, optimizer->m[i], bytes);
        device_download(model->device, to + 3 * P, optimizer->v[i], bytes);
        device_download(model->device, to + 4 * P, param->grad, bytes);
        to += param->count;
    }
}

/* The last op of a backward pass: what it leaves is what the window may get to see. */
static void mixed_see_embedding(float *dwte, float *dwpe, const Real *dout, const int32_t *tokens,
                                int B, int T, int C, int V, const Workspace *workspace) {
    static const float bad[] = {0, INFINITY, -INFINITY, NAN, 1e12f};
    const MixedWindow *window = &mixed_run.window;
    Model *model = window_run.trainer.model;
    mixed_run.real_ops.embedding_backward(dwte, dwpe, dout, tokens, B, T, C, V, workspace);
    if (window->bad != BAD_NONE && window->micro == mixed_run.micros) {
        device_upload(model->device, model->params[window->param].grad + window->index,
                      &bad[window->bad], sizeof(float));
    }
    mixed_run.micros++;
}

/* The share that backward was given in the first window, seen from its first op. */
static void mixed_see_crossentropy(Real *dlogits, const Real *logits, const float *lse,
                                   const int32_t *targets, float dloss, int N, int V, int stride) {
    size_t most;
    float *to = wire_get(window_run.out, "dloss", WIRE_F32, &most);
    if (window_run.number == 0 && (size_t)mixed_run.micros < most) {
        to[mixed_run.micros] = dloss;
    }
    mixed_run.real_ops.crossentropy_backward(dlogits, logits, lse, targets, dloss, N, V, stride);
}

static void mixed_see_unscale(float *grad, size_t n, float inv_scale, float *found_inf) {
    mixed_run.real_ops.unscale(grad, n, inv_scale, found_inf);
    mixed_run.unscaled += n;
}

/* A later hole or mistake ends the program in the first window; what the task before it did is
   judged. */
static void mixed_cut_short(void) {
    if (window_run.number == 0 && window_run.option[OPTION_FIRST] &&
        mixed_run.unscaled >= window_run.trainer.model->grads.n) {
        window_end_early();
    }
}

/* Masters hold more than the weights that are given, as they do after any step. */
static void mixed_load_masters(const Wire *in) {
    const Optimizer *optimizer = window_run.trainer.optimizer;
    const Model *model = optimizer->model;
    const float *masters = wire_floats(in, "masters");
    for (int i = 0; i < model->param_count; masters += model->params[i++].count) {
        device_upload(model->device, optimizer->master[i], masters,
                      model->params[i].count * sizeof *masters);
    }
}

static void mixed_open(const Wire *in, Wire *out) {
    window_run_open(in, out, "window", (WindowDevice){.arena = ARENA_BYTES, .unwatched = true});
    Model *model = window_run.trainer.model;
    mixed_run.mixed =
        (Mixed){.scaler = given_scaler(in), .dynamic = model->config.precision == F16};
    window_run.trainer.mixed = &mixed_run.mixed;
    probe_techniques(&window_run.trainer);
    mixed_load_masters(in);
    model->checkpoint.segment = window_run.option[OPTION_SEGMENT];
    mixed_run.real_ops = mixed_run.ops = *model->ops;
    mixed_run.ops.embedding_backward = mixed_see_embedding;
    mixed_run.ops.crossentropy_backward = mixed_see_crossentropy;
    mixed_run.ops.unscale = mixed_see_unscale;
    model->ops = &mixed_run.ops;
}

/* Loss and targets of a window's report, before the update and after it: those of the last window,
   or of the first that the update has changed. */
static void mixed_give_kept(const StepReport *before, const StepReport *after) {
    float *loss = wire_floats(window_run.out, "loss");
    uint64_t *tokens = wire_get(window_run.out, "tokens", WIRE_U64, NULL);
    if (window_run.number > 0 && (loss[0] != loss[1] || tokens[0] != tokens[1])) {
        return;
    }
    const StepReport *report[] = {before, after};
    for (int i = 0; i < 2; i++) {
        loss[i] = (float)report[i]->loss;
        tokens[i] = report[i]->tokens;
    }
}

/* Level 1 of lab 03, written here, so that this lab does not stand on that one. */
static StepReport mixed_by_hand(const Batch *batches, int count) {
    Trainer *trainer = &window_run.trainer;
    StepReport report = {.skipped = window_run.option[OPTION_SKIPPED]};
    for (int i = 0; i < count; i++) {
        report.tokens += (size_t)batches[i].valid;
    }
    float share = report.tokens > 0 ? 1.0f / (float)report.tokens : 0;
    for (int i = 0; i < count; i++) {
        report.loss += trainer_forward(trainer, &batches[i]) * (double)share;
        trainer_backward(trainer, share);
    }
    StepReport before = report;
    mixed_update(trainer, &report);
    mixed_give_kept(&before, &report);
    if (!report.skipped) {
        schedule_tick(&trainer->schedule);
    }
    return report;
}

static void mixed_give_report(const StepReport *report) {
    const Scaler *scaler = &mixed_run.mixed.scaler;
    uint64_t *counts = wire_get(window_run.out, "trace", WIRE_U64, NULL);
    const uint64_t now[] = {(uint64_t)scaler->scale,
                            (uint64_t)(int64_t)scaler->good_steps,
                            report->skipped,
                            (uint64_t)window_run.trainer.optimizer->t,
                            (uint64_t)window_run.trainer.schedule.step,
                            (uint64_t)window_run.steps};
    memcpy(counts + 6 * window_run.number, now, sizeof now);
    window_give_float("grad_norm", report->grad_norm);
    window_give_float("learning_rate", report->learning_rate);
}

/* The scale that a bad window should leave: what scaler_update() makes of it, right or wrong. */
static void mixed_lower_scale(void) {
    Scaler scaler = mixed_run.mixed.scaler;
    if (window_is_bad(&mixed_run.window) && mixed_run.mixed.dynamic) {
        scaler_update(&scaler, true);
    }
    ((uint64_t *)wire_get(window_run.out, "lowered", WIRE_U64, NULL))[window_run.number] =
        (uint64_t)scaler.scale;
}

static void mixed_window(void) {
    const MixedWindow *window = &mixed_run.window;
    const Batch *batches = window_run.batch + window->first;
    if (window->scale > 0) {
        mixed_run.mixed.scaler.scale = window->scale;
        mixed_run.mixed.scaler.good_steps = 0;
    }
    mixed_lower_scale();
    mixed_run.micros = 0;
    StepReport report = window_run.option[OPTION_LEVEL] == 1
                            ? accumulate_window(&window_run.trainer, batches, window->count)
                            : mixed_by_hand(batches, window->count);
    mixed_give_report(&report);
    if (window_wanted(WANT_STATES)) {
        mixed_give_states();
    }
    window_done();
}

/* After a bad step a scaler is another one. */
static void mixed_ask_scaler(const Wire *in, Wire *out) {
    Scaler scaler = given_scaler(in), before = scaler;
    scaler_update(&scaler, true);
    *(uint64_t *)wire_get(out, "moves", WIRE_U64, NULL) = !(scaler.scale == before.scale);
}

static void mixed_windows(const Wire *in, Wire *out) {
    size_t bytes;
    const MixedWindow *all = wire_get(in, "windows", WIRE_BYTES, &bytes);
    mixed_open(in, out);
    probe_when_cut_short(mixed_cut_short);
    for (size_t i = 0; i < bytes / sizeof *all; i++) {
        mixed_run.window = all[i];
        mixed_window();
    }
    MemoryUse peak = memory_peak(window_run.trainer.model->memory);
    uint64_t *use = wire_get(out, "bytes", WIRE_U64, NULL);
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        use[kind] = peak.bytes[kind];
    }
    if (window_run.option[OPTION_ASKS]) {
        mixed_ask_scaler(in, out);
    }
    window_run_close();
}

const ProbeCase probe_cases[] = {{"start", scaler_start},
                                 {"script", scaler_script},
                                 {"windows", mixed_windows},
                                 {"apart", second_trainer},
                                 {NULL, NULL}};
