/* Lab 05 in the probe: the scaler by itself, and windows in half precision, some with a number in a
   gradient that is not finite. The two ops are in probe_ops.c. */
#include "grader/labs/05_fp16/protocol.h"

#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "grader/probe.h"
#include "grader/probe_techniques.h"
#include "kernels/half.h"
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

/* Loss and targets of the first window's report, before the update (0) and after it (1). */
static void mixed_give_kept(int i, const StepReport *report) {
    if (window_run.number == 0) {
        wire_floats(window_run.out, "loss")[i] = (float)report->loss;
        ((uint64_t *)wire_get(window_run.out, "tokens", WIRE_U64, NULL))[i] = report->tokens;
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
    mixed_give_kept(0, &report);
    mixed_update(trainer, &report);
    mixed_give_kept(1, &report);
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

/* ---- a second trainer ------------------------------------------------------------------------ */

enum { APART_BYTES = 32 << 20, APART_SCALE = 1024, APART_PARAMS = 16 };

/* Its model has adapters, which are trained: the base is frozen, and has no gradients. Its memory
   is that of a device: model->result is a page that is open while the device works. */
static struct Apart {
    Trainer trainer;
    Mixed mixed;
    Ops ops, real_ops;
    Device real_device;
    char *page;
    size_t page_bytes;
    int steps;
    bool right; /* the optimizer has seen the gradients that were given */
} apart;

static void apart_open(bool open) {
    if (mprotect(apart.page, apart.page_bytes, open ? PROT_READ | PROT_WRITE : PROT_NONE) != 0) {
        probe_lost("mprotect");
    }
}

static void apart_fill(Device *device, void *data, int byte, size_t bytes) {
    apart_open(true);
    apart.real_device.fill(device, data, byte, bytes);
    apart_open(false);
}

static void apart_upload(Device *device, void *to, const void *from, size_t bytes) {
    apart_open(true);
    apart.real_device.upload(device, to, from, bytes);
    apart_open(false);
}

static void apart_download(Device *device, void *to, const void *from, size_t bytes) {
    apart_open(true);
    apart.real_device.download(device, to, from, bytes);
    apart_open(false);
}

/* Memory of the device is one range. */
static bool apart_has(const void *data) {
    uintptr_t at = (uintptr_t)data, known = (uintptr_t)apart.trainer.model->params[0].grad;
    return data == apart.page ||
           (data != NULL && at + APART_BYTES > known && at < known + APART_BYTES);
}

static void apart_unscale(float *grad, size_t n, float inv_scale, float *found_inf) {
    if (grad == NULL) {
        probe_lost("unscale() is given a parameter without a gradient: what is trained is in "
                   "model->params; of a model with adapters model->base is frozen, and has none");
    }
    if (!apart_has(found_inf)) {
        probe_lost("unscale() is to write its answer into a variable of the host: an op reads and "
                   "writes memory of its device, and model->result is a float there");
    }
    apart_open(true);
    apart.real_ops.unscale(grad, n, inv_scale, found_inf);
    apart_open(false);
}

static void apart_sumsq(float *out, TensorList x, const Workspace *workspace) {
    apart_open(true);
    apart.real_ops.sumsq(out, x, workspace);
    apart_open(false);
}

static void apart_cast(Real *out, const float *in, size_t n) {
    const Model *model = apart.trainer.model;
    for (int i = 0; i < model->base_count; i++) {
        if (out == model->base[i].weight) {
            probe_lost("a master is written into a weight that is frozen: what is trained is in "
                       "model->params, of which optimizer->master has one each");
        }
    }
    apart.real_ops.cast_from_float(out, in, n);
}

/* Of the page alone; another crash is reported as ever. */
static void apart_see_signal(int number, siginfo_t *info, void *context) {
    const char *at = info->si_addr;
    (void)context;
    if (at >= apart.page && at < apart.page + apart.page_bytes) {
        probe_lost("the host reads or writes model->result itself: it is a float on the device, "
                   "set by device_fill() and fetched by device_download()");
    }
    signal(number, SIG_DFL);
}

static float apart_gradient(int param, size_t i) {
    return (float)((int)((i + (size_t)param) % 7) - 3) / 64 + 0x1p-10f;
}

static void apart_see_step(void *context, const Model *model) {
    (void)context;
    apart.right = true;
    apart.steps++;
    for (int k = 0; k < model->param_count; k++) {
        for (size_t i = 0; i < model->params[k].count; i++) {
            apart.right = apart.right && model->params[k].grad[i] == apart_gradient(k, i);
        }
    }
}

static void apart_new(void) {
    ModelConfig config = {.V = 256, .T = 8, .L = 1, .NH = 2, .C = 8, .precision = F16};
    config.adapter = (Adapter){.rank = 2, .targets = (1 << BLOCK_LINEARS) - 1, .alpha = 4};
    Device *device = probe_device(false, APART_BYTES);
    Model *model = model_new(&config, memory_new(device, (MemoryOptions){.checked = true}), 1);
    Optimizer *optimizer =
        optimizer_new(model, (AdamW){.beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 1e-8f});
    optimizer->before_step = apart_see_step;
    apart.mixed.scaler = (Scaler){APART_SCALE, 2, 0.5f, 1, 1, 0};
    apart.trainer = (Trainer){.model = model,
                              .optimizer = optimizer,
                              .schedule = {DECAY_CONSTANT, 0.25f, 0, 100, 0},
                              .mixed = &apart.mixed};
    apart.page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    apart.page = mmap(NULL, apart.page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(apart.page != MAP_FAILED && model->param_count <= APART_PARAMS, "no second trainer");
    apart.real_device = *device;
    device->fill = apart_fill;
    device->upload = apart_upload;
    device->download = apart_download;
    apart.real_ops = apart.ops = *model->ops;
    apart.ops.unscale = apart_unscale;
    apart.ops.sumsq = apart_sumsq;
    apart.ops.cast_from_float = apart_cast;
    model->ops = &apart.ops;
    model->result = (float *)(void *)apart.page;
    struct sigaction action = {.sa_sigaction = apart_see_signal,
                               .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGSEGV, &action, NULL);
}

/* A window whose gradients are there already, scaled. */
static StepReport apart_window(bool bad) {
    Model *model = apart.trainer.model;
    StepReport report = {.skipped = !bad};
    for (int k = 0; k < model->param_count; k++) {
        float *grad = model->params[k].grad;
        for (size_t i = 0; i < model->params[k].count; i++) {
            grad[i] = apart_gradient(k, i) * apart.mixed.scaler.scale;
        }
        grad[model->params[k].count - 1] *= bad && k == model->param_count - 1 ? NAN : 1;
    }
    mixed_update(&apart.trainer, &report);
    return report;
}

/* Whether weights are their masters, rounded, and have moved. */
static bool apart_learned(void) {
    const Model *model = apart.trainer.model;
    static float weight[4096];
    for (int k = 0; k < model->param_count; k++) {
        const float *master = apart.trainer.optimizer->master[k];
        size_t count = model->params[k].count;
        CHECK(count <= sizeof weight / sizeof *weight, "%zu numbers", count);
        model_download_weight(model, &model->params[k], weight);
        for (size_t i = 0; i < count; i++) {
            if (master[i] == 0 || weight[i] != precision_round(F16, master[i])) {
                return false;
            }
        }
    }
    return true;
}

static bool apart_zero(void) {
    const Model *model = apart.trainer.model;
    for (int k = 0; k < model->param_count; k++) {
        for (size_t i = 0; i < model->params[k].count; i++) {
            if (!(model->params[k].grad[i] == 0)) {
                return false;
            }
        }
    }
    return true;
}

/* A window of a trainer with another scale, whose scaler stays although its weights are half; one
   with NaN; and one in which the scaler is dynamic again. */
static void mixed_apart(const Wire *in, Wire *out) {
    uint64_t *seen = wire_get(out, "apart", WIRE_U64, NULL);
    const Scaler *scaler = &apart.mixed.scaler;
    const Mixed before = {.scaler = given_scaler(in), .dynamic = true};
    mixed_scale(&before, 1);
    apart_new();
    seen[APART_SHARE] = mixed_scale(&apart.mixed, 0.25f) == APART_SCALE / 4;
    StepReport report = apart_window(false);
    seen[APART_TAKEN] = apart.steps == 1 && !report.skipped;
    seen[APART_GRADIENTS] = apart.right;
    seen[APART_WEIGHTS] = apart_learned();
    seen[APART_ZERO] = apart_zero();
    seen[APART_STAYS] = scaler->scale == APART_SCALE && scaler->good_steps == 0;
    report = apart_window(true);
    seen[APART_BAD] = apart.steps == 1 && report.skipped && apart_zero();
    seen[APART_STAYS] = seen[APART_STAYS] && scaler->scale == APART_SCALE;
    apart.mixed.dynamic = true;
    apart_window(false);
    seen[APART_GROWS] = apart.steps == 2 && scaler->scale == 2 * APART_SCALE;
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
                                 {"apart", mixed_apart},
                                 {NULL, NULL}};
