/* Lab 05 in the probe: the two ops on the simulated GPU, the scaler by itself, and windows in half
   precision, some with a number in a gradient that is not finite. */
#define _GNU_SOURCE
#include "grader/probes/05_fp16.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/lab.h"
#include "common/lab03.h"
#include "common/lab05.h"
#include "grader/probe.h"

enum { ARENA_BYTES = 256 << 20 };

static float *floats(const Wire *wire, const char *name) {
    return wire_get(wire, name, WIRE_F32, NULL);
}

/* ---- the ops --------------------------------------------------------------------------------- */

typedef struct OpCall {
    const Wire *in;
    Wire *out;
    int i;
    OpCase c;
    Device *device;
    Memory *memory;
} OpCall;

static void *tensor(const OpCall *call, const void *values, size_t bytes) {
    void *data = memory_alloc(call->memory, MEMORY_ACTIVATIONS, "probe", -1, bytes);
    if (values != NULL) {
        device_upload(call->device, data, values, bytes);
    }
    return data;
}

static float *given(const OpCall *call) {
    char name[WIRE_NAME];
    return tensor(call, floats(call->in, op_name(name, "in", call->i)),
                  (size_t)call->c.n * sizeof(float));
}

static void call_cast(const OpCall *call) {
    char name[WIRE_NAME];
    Precision precision = (Precision)call->c.precision;
    size_t n = (size_t)call->c.n, bytes = precision_bytes(precision);
    Real *to = tensor(call, NULL, n * bytes);
    call->device->ops[precision].cast_from_float(to, given(call), n);
    unsigned char *raw = malloc(n * bytes + 1);
    CHECK(raw != NULL, "no host memory for %zu numbers", n);
    device_download(call->device, raw, to, n * bytes);
    uint64_t *bits = wire_get(call->out, op_name(name, "bits", call->i), WIRE_U64, NULL);
    for (size_t i = 0; i < n; i++) {
        bits[i] = 0;
        memcpy(&bits[i], raw + i * bytes, bytes); /* as on any little-endian machine */
    }
    free(raw);
}

static void call_unscale(const OpCall *call) {
    char name[WIRE_NAME];
    size_t n = (size_t)call->c.n;
    float *grad = given(call), *found = tensor(call, &call->c.found_inf, sizeof(float));
    call->device->ops[F32].unscale(grad, n, call->c.inv_scale, found);
    device_download(call->device, floats(call->out, op_name(name, "out", call->i)), grad,
                    n * sizeof *grad);
    device_download(call->device, floats(call->out, "found_inf") + call->i, found, sizeof *found);
}

static void each(const Wire *in, Wire *out, void (*run)(const OpCall *call)) {
    size_t bytes;
    const OpCase *cases = wire_get(in, "cases", WIRE_BYTES, &bytes);
    Device *device = device_gpu_new();
    CHECK(device != NULL, "there is no GPU");
    Memory *memory = memory_new(device, (MemoryOptions){.checked = !device->simulated});
    for (int i = 0; i < (int)(bytes / sizeof *cases); i++) {
        MemoryMark mark = memory_mark(memory);
        OpCall call = {in, out, i, cases[i], device, memory};
        run(&call);
        memory_release(memory, mark);
    }
    device_synchronize(device);
    memory_free(memory);
    device_free(device);
    hand_back_profile(out);
}

static void cast(const Wire *in, Wire *out) {
    each(in, out, call_cast);
}

static void unscale(const Wire *in, Wire *out) {
    each(in, out, call_unscale);
}

/* ---- the scaler ------------------------------------------------------------------------------ */

static Scaler scaler_of(const Wire *in) {
    const float *f = floats(in, "scaler");
    const int32_t *counts = wire_get(in, "counts", WIRE_I32, NULL);
    return (Scaler){.scale = f[0],
                    .growth = f[1],
                    .backoff = f[2],
                    .floor = f[3],
                    .interval = counts[0],
                    .good_steps = counts[1]};
}

static void start(const Wire *in, Wire *out) {
    (void)in;
    Scaler scaler = {-1, -1, -1, -1, -1, -1};
    scaler_init(&scaler);
    float *values = floats(out, "init");
    const float got[] = {scaler.scale, scaler.growth,          scaler.backoff,
                         scaler.floor, (float)scaler.interval, (float)scaler.good_steps};
    memcpy(values, got, sizeof got);
}

/* Two scalers take turns: the second sees the script from its end. All that one knows stands in its
   structure, so neither knows of the other. */
static void script(const Wire *in, Wire *out) {
    size_t steps;
    const int32_t *found = wire_get(in, "found_inf", WIRE_I32, &steps);
    float *scale = floats(out, "scale");
    uint64_t *good = wire_get(out, "good_steps", WIRE_U64, NULL);
    Scaler scaler = scaler_of(in), other = scaler_of(in);
    for (size_t i = 0; i < steps; i++) {
        scaler_update(&scaler, found[i] != 0);
        scaler_update(&other, found[steps - 1 - i] != 0);
        scale[i] = scaler.scale;
        good[i] = (uint64_t)(int64_t)scaler.good_steps;
    }
}

/* ---- windows --------------------------------------------------------------------------------- */

/* Ops and devices have no place for a context of their own. */
static struct Watch {
    const Wire *in;
    Wire *out;
    const int32_t *option;
    Trainer trainer;
    Mixed mixed;
    Device *device;
    Memory *memory;
    Ops ops;      /* as the model sees them */
    Ops real_ops; /* what they are */
    Window window;
    int number;    /* of the window */
    int micros;    /* backwards so far, of all windows */
    int stepped;   /* steps of the optimizer in this window */
    bool unscaled; /* whether it has been unscaled */
} watch;

static void give_back(const char *what, const Param *param, const float *values) {
    char name[WIRE_NAME];
    hand_back(watch.out, watch.device, param_name(name, what, param, "window", watch.number),
              values, param->count);
}

static void give_weight(const Param *param) {
    char name[WIRE_NAME];
    float *to = floats(watch.out, param_name(name, NAME_WEIGHT, param, "window", watch.number));
    model_download_weight(watch.trainer.model, param, to);
}

static void give_gradients(void) {
    hand_back_gradients(watch.out, watch.trainer.model, NAME_GRADIENT, "window", watch.number);
}

static void give_update(void) {
    const Optimizer *optimizer = watch.trainer.optimizer;
    for (int i = 0; i < optimizer->model->param_count; i++) {
        const Param *param = &optimizer->model->params[i];
        give_weight(param);
        give_back(NAME_MASTER, param, optimizer->master[i]);
        give_back(NAME_M, param, optimizer->m[i]);
        give_back(NAME_V, param, optimizer->v[i]);
    }
}

/* Weights, masters, m, v, gradients, each of all parameters. */
static void give_states(void) {
    char name[WIRE_NAME];
    size_t count;
    const Optimizer *optimizer = watch.trainer.optimizer;
    const Model *model = optimizer->model;
    float *to = wire_get(watch.out, op_name(name, NAME_STATES, watch.number), WIRE_F32, &count);
    size_t P = count / 5;
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        size_t bytes = param->count * sizeof *to;
        model_download_weight(model, param, to);
        device_download(watch.device, to + P, optimizer->master[i], bytes);
        device_download(watch.device, to + 2 * P, optimizer->m[i], bytes);
        device_download(watch.device, to + 3 * P, optimizer->v[i], bytes);
        device_download(watch.device, to + 4 * P, param->grad, bytes);
        to += param->count;
    }
}

/* The last op of a backward pass: what it leaves is what the window may get to see. */
static void see_embedding(float *dwte, float *dwpe, const Real *dout, const int32_t *tokens, int B,
                          int T, int C, int V, const Workspace *workspace) {
    static const float bad[] = {0, INFINITY, -INFINITY, NAN};
    const Window *window = &watch.window;
    watch.real_ops.embedding_backward(dwte, dwpe, dout, tokens, B, T, C, V, workspace);
    if (window->bad != BAD_NONE && window->micro == watch.micros) {
        device_upload(watch.device, watch.trainer.model->params[window->param].grad + window->index,
                      &bad[window->bad], sizeof(float));
    }
    watch.micros++;
}

/* What backward was given in the first window, seen from its first op. */
static void see_crossentropy(Real *dlogits, const Real *logits, const float *lse,
                             const int32_t *targets, float dloss, int N, int V) {
    size_t most;
    float *to = wire_get(watch.out, "dloss", WIRE_F32, &most);
    if (watch.number == 0 && (size_t)watch.micros < most) {
        to[watch.micros] = dloss;
    }
    watch.real_ops.crossentropy_backward(dlogits, logits, lse, targets, dloss, N, V);
}

static void see_unscale(float *grad, size_t n, float inv_scale, float *found_inf) {
    watch.unscaled = true;
    watch.real_ops.unscale(grad, n, inv_scale, found_inf);
}

static void see_step(void *context, const Model *model) {
    (void)context, (void)model;
    watch.stepped++;
    if (watch.option[OPTION_WANTS] & WANT_GRADIENTS) {
        give_gradients();
    }
}

/* A later hole ends the program in the first window; what the task before it did is judged. */
static void after_hole(int status, void *context) {
    (void)context;
    if (status != EXIT_TODO || !watch.option[OPTION_FIRST] || !watch.unscaled) {
        return;
    }
    if (watch.stepped == 0) {
        give_gradients(); /* else see_step() has */
    }
    wire_finish(watch.out);
    _exit(0);
}

static void build(void) {
    watch.mixed = (Mixed){.scaler = scaler_of(watch.in)};
    watch.trainer = given_trainer(watch.in, watch.memory);
    watch.trainer.mixed = &watch.mixed;
    watch.trainer.optimizer->before_step = see_step;
    Model *model = watch.trainer.model;
    watch.mixed.dynamic = model->config.precision == F16;
    model->checkpoint.segment = watch.option[OPTION_SEGMENT];
    watch.real_ops = watch.ops = *model->ops;
    watch.ops.embedding_backward = see_embedding;
    watch.ops.crossentropy_backward = see_crossentropy;
    watch.ops.unscale = see_unscale;
    model->ops = &watch.ops;
}

/* Level 1 of lab 03, written here, so that this lab does not stand on that one. */
static StepReport by_hand(const Batch *batches, int count) {
    StepReport report = {0};
    for (int i = 0; i < count; i++) {
        report.tokens += (size_t)batches[i].valid;
    }
    float share = report.tokens > 0 ? 1.0f / (float)report.tokens : 0;
    for (int i = 0; i < count; i++) {
        report.loss += trainer_forward(&watch.trainer, &batches[i]);
        trainer_backward(&watch.trainer, share);
    }
    mixed_update(&watch.trainer, &report);
    if (!report.skipped) {
        schedule_tick(&watch.trainer.schedule);
    }
    return report;
}

static void give_report(const StepReport *report) {
    int i = watch.number;
    const Scaler *scaler = &watch.mixed.scaler;
    uint64_t *counts = wire_get(watch.out, "trace", WIRE_U64, NULL);
    const uint64_t now[] = {(uint64_t)scaler->scale,
                            (uint64_t)(int64_t)scaler->good_steps,
                            report->skipped,
                            (uint64_t)watch.trainer.optimizer->t,
                            (uint64_t)watch.trainer.schedule.step,
                            (uint64_t)watch.stepped};
    memcpy(counts + 6 * i, now, sizeof now);
    floats(watch.out, "grad_norm")[i] = report->grad_norm;
    floats(watch.out, "learning_rate")[i] = report->learning_rate;
}

static void one_window(void) {
    enum { MOST = 8 };
    Batch batches[MOST];
    const Window *window = &watch.window;
    CHECK(window->count <= MOST, "a window of %d micro-batches", window->count);
    for (int i = 0; i < window->count; i++) {
        batches[i] = given_batch(watch.in, window->first + i);
    }
    if (window->scale > 0) {
        watch.mixed.scaler.scale = window->scale;
        watch.mixed.scaler.good_steps = 0;
    }
    watch.micros = 0;
    watch.stepped = 0;
    StepReport report = watch.option[OPTION_LEVEL] == 1
                            ? accumulate_window(&watch.trainer, batches, window->count)
                            : by_hand(batches, window->count);
    give_report(&report);
    if (watch.option[OPTION_WANTS] & WANT_UPDATE) {
        give_update();
    }
    if (watch.option[OPTION_WANTS] & WANT_STATES) {
        give_states();
    }
}

static void open_case(const Wire *in, Wire *out) {
    watch.in = in;
    watch.out = out;
    watch.option = wire_get(in, "options", WIRE_I32, NULL);
    omp_set_num_threads(1); /* the model is too small to share */
    watch.device = probe_device(watch.option[OPTION_GPU], ARENA_BYTES);
    watch.memory = memory_new(watch.device, (MemoryOptions){.checked = !watch.device->simulated});
    build();
}

/* Without the submission's part of a step: backward of the first window at its scale. */
static void plain(const Wire *in, Wire *out) {
    const Window *window = wire_get(in, "windows", WIRE_BYTES, NULL);
    size_t valid = 0;
    open_case(in, out);
    for (int i = 0; i < window->count; i++) {
        valid += (size_t)given_batch(in, i).valid;
    }
    for (int i = 0; i < window->count; i++) {
        Batch batch = given_batch(in, i);
        model_forward(watch.trainer.model, &batch);
        model_backward(watch.trainer.model, 1.0f / (float)valid * window->scale);
    }
    give_gradients();
}

static void windows(const Wire *in, Wire *out) {
    size_t bytes;
    const Window *all = wire_get(in, "windows", WIRE_BYTES, &bytes);
    open_case(in, out);
    on_exit(after_hole, NULL);
    for (size_t i = 0; i < bytes / sizeof *all; i++) {
        watch.number = (int)i;
        watch.window = all[i];
        one_window();
    }
    MemoryUse peak = memory_peak(watch.memory);
    uint64_t *use = wire_get(out, "bytes", WIRE_U64, NULL);
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        use[kind] = peak.bytes[kind];
    }
    memory_free(watch.memory); /* looks for what was written past the end of a tensor */
}

const ProbeCase probe_cases[] = {{"cast", cast},     {"unscale", unscale}, {"start", start},
                                 {"script", script}, {"plain", plain},     {"windows", windows},
                                 {NULL, NULL}};
