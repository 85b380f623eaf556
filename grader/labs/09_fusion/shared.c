#include "grader/labs/09_fusion/shared.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "grader/probe.h"
#include "kernels/half.h"

/* ---- calls of the op ------------------------------------------------------------------------- */

static const float *norm_given(const NormCall *call, const char *what, size_t *n) {
    char name[WIRE_NAME];
    return wire_get(call->in, fusion_name(name, what, call->i), WIRE_F32, n);
}

void *norm_new(const NormCall *call, size_t n, size_t element) {
    return memory_alloc(call->memory, MEMORY_ACTIVATIONS, "probe", -1, n * element);
}

static void *norm_upload(const NormCall *call, const void *values, size_t bytes) {
    void *tensor = norm_new(call, bytes, 1);
    device_upload(call->device, tensor, values, bytes);
    return tensor;
}

float *norm_float(const NormCall *call, const char *what) {
    size_t n;
    const float *values = norm_given(call, what, &n);
    return norm_upload(call, values, n * sizeof *values);
}

static uint16_t *halves(size_t n) {
    uint16_t *bits = malloc(n * sizeof *bits + 1);
    CHECK(bits != NULL, "no host memory for %zu numbers", n);
    return bits;
}

Real *norm_real(const NormCall *call, const char *what) {
    if (call->c->precision == F32) {
        return (Real *)norm_float(call, what);
    }
    size_t n;
    const float *values = norm_given(call, what, &n);
    uint16_t *bits = halves(n);
    for (size_t i = 0; i < n; i++) {
        bits[i] =
            call->c->precision == F16 ? half_from_float(values[i]) : bf16_from_float(values[i]);
    }
    Real *real = norm_upload(call, bits, n * sizeof *bits);
    free(bits);
    return real;
}

void norm_give_float(const NormCall *call, const char *what, const float *from) {
    char name[WIRE_NAME];
    size_t n;
    float *to = wire_get(call->out, fusion_name(name, what, call->i), WIRE_F32, &n);
    device_download(call->device, to, from, n * sizeof *to);
}

void norm_give_real(const NormCall *call, const char *what, const Real *from) {
    if (call->c->precision == F32) {
        norm_give_float(call, what, (const float *)from);
        return;
    }
    char name[WIRE_NAME];
    size_t n;
    float *to = wire_get(call->out, fusion_name(name, what, call->i), WIRE_F32, &n);
    uint16_t *bits = halves(n);
    device_download(call->device, bits, from, n * sizeof *bits);
    for (size_t i = 0; i < n; i++) {
        to[i] = call->c->precision == F16 ? half_to_float(bits[i]) : bf16_to_float(bits[i]);
    }
    free(bits);
}

/* Half of the place in the stream is in device memory, as in a captured step. */
static Dropout norm_mask(const NormCall *call) {
    Dropout dropout = {.p = call->c->p, .seed = call->c->seed, .offset = call->c->offset};
    if (call->c->based) {
        uint64_t base = dropout.offset - dropout.offset / 2;
        dropout.offset /= 2;
        dropout.base = norm_upload(call, &base, sizeof base);
    }
    return dropout;
}

void norm_calls(const Wire *in, Wire *out, void (*run)(const NormCall *call)) {
    size_t bytes;
    const NormCase *cases = wire_get(in, "cases", WIRE_BYTES, &bytes);
    Device *device = probe_device(true, 0);
    Memory *memory = memory_new(device, (MemoryOptions){0});
    for (int i = 0; i < (int)(bytes / sizeof *cases); i++) {
        MemoryMark mark = memory_mark(memory);
        NormCall call = {.in = in,
                         .out = out,
                         .i = i,
                         .c = &cases[i],
                         .ops = &device->ops[cases[i].precision],
                         .device = device,
                         .memory = memory};
        size_t scratch = 2 * LAYERNORM_BLOCKS * (size_t)cases[i].C;
        call.dropout = norm_mask(&call);
        call.workspace = (Workspace){norm_new(&call, scratch, sizeof(float)),
                                     scratch * sizeof(float), device->threads, device->blas};
        run(&call);
        memory_release(memory, mark);
    }
    device_synchronize(device);
    memory_free(memory);
    device_free(device);
}

/* ---- steps ----------------------------------------------------------------------------------- */

void steps_open(StepsRun *run, const Wire *in, Wire *out) {
    ModelConfig config = probe_config(in);
    *run = (StepsRun){.in = in, .out = out};
    run->option = wire_get(in, "options", WIRE_I32, NULL);
    run->windows = wire_get(in, "windows", WIRE_BYTES, NULL);
    run->device = probe_device(true, 0);
    run->memory = memory_new(run->device, (MemoryOptions){0});
    run->trainer = given_trainer(in, run->memory);
    run->trainer.optimizer->t = run->option[STEPS_BEFORE];
    run->trainer.model->rng.offset = DROPOUT_DRAWN;
    if (config.precision != F32) {
        run->mixed =
            (Mixed){.scaler = {.scale = 1, .growth = 2, .backoff = 0.5f, .floor = 1, .interval = 4},
                    .dynamic = config.precision == F16};
        run->trainer.mixed = &run->mixed;
    }
}

/* Where weights are in half, in the master too: some write the weights of a skipped step anew. */
static void steps_spoil(const StepsRun *run) {
    const Model *model = run->trainer.model;
    float *const *master = run->trainer.optimizer->master, bad = INFINITY;
    float *first = master != NULL ? master[0] : (float *)model->params[0].weight;
    uint16_t half = model->config.precision == F16 ? half_from_float(bad) : bf16_from_float(bad);
    device_upload(run->device, first, &bad, sizeof bad);
    if (master != NULL) {
        device_upload(run->device, model->params[0].weight, &half, sizeof half);
    }
}

int steps_window(StepsRun *run, int number) {
    const StepsWindow *window = &run->windows[number];
    int anew = run->option[STEPS_ANEW];
    run->number = number;
    run->place = anew > 0 && number >= anew ? number - anew : number;
    for (int i = 0; i < window->count; i++) {
        run->batch[i] = given_batch(run->in, window->first + i);
    }
    if (window->scale > 0 && run->trainer.mixed != NULL) {
        run->mixed.scaler.scale = window->scale;
        run->mixed.scaler.good_steps = 0;
    }
    if (window->bad) {
        steps_spoil(run);
    }
    return window->count;
}

static uint64_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return isnan(x) ? UINT32_MAX : bits;
}

/* FNV-1a over n numbers of the device, all NaN being one. */
static uint64_t hash_floats(const StepsRun *run, uint64_t before, const float *from, size_t n) {
    float *data = malloc(n * sizeof *data + 1);
    CHECK(data != NULL, "no host memory for %zu numbers", n);
    device_download(run->device, data, from, n * sizeof *data);
    for (size_t i = 0; i < n; i++) {
        before = (before ^ bits_of(data[i])) * 0x100000001b3u;
    }
    free(data);
    return before;
}

/* FNV-1a over a tensor of the device. */
static uint64_t hash(const StepsRun *run, uint64_t before, const void *from, size_t bytes) {
    unsigned char *data = malloc(bytes + 1);
    CHECK(data != NULL, "no host memory for %zu bytes", bytes);
    device_download(run->device, data, from, bytes);
    for (size_t i = 0; i < bytes; i++) {
        before = (before ^ data[i]) * 0x100000001b3u;
    }
    free(data);
    return before;
}

void steps_give(const StepsRun *run, const StepReport *report) {
    const Optimizer *optimizer = run->trainer.optimizer;
    const Model *model = run->trainer.model;
    uint64_t *to = wire_get(run->out, "steps", WIRE_U64, NULL);
    to += (size_t)run->number * STEP_NUMBERS;
    to[STEP_WEIGHTS] = to[STEP_MOMENTS] = to[STEP_LEFT] = 0xcbf29ce484222325u;
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        if (optimizer->master != NULL) {
            to[STEP_WEIGHTS] = hash(run, to[STEP_WEIGHTS], param->weight,
                                    param->count * precision_bytes(model->config.precision));
        }
        const float *weight =
            optimizer->master != NULL ? optimizer->master[i] : (float *)param->weight;
        to[STEP_WEIGHTS] = hash_floats(run, to[STEP_WEIGHTS], weight, param->count);
        to[STEP_MOMENTS] = hash_floats(run, to[STEP_MOMENTS], optimizer->m[i], param->count);
        to[STEP_MOMENTS] = hash_floats(run, to[STEP_MOMENTS], optimizer->v[i], param->count);
        to[STEP_LEFT] = hash_floats(run, to[STEP_LEFT], param->grad, param->count);
    }
    if (isnan(report->loss)) {
        to[STEP_LOSS] = UINT64_MAX;
    } else {
        memcpy(&to[STEP_LOSS], &report->loss, sizeof report->loss);
    }
    to[STEP_NORM] = bits_of(report->grad_norm);
    to[STEP_RATE] = bits_of(report->learning_rate);
    to[STEP_TOKENS] = report->tokens;
    to[STEP_SKIPPED] = report->skipped;
    to[STEP_T] = (uint64_t)optimizer->t;
    to[STEP_TICKS] = (uint64_t)run->trainer.schedule.step;
    to[STEP_STREAM] = model->rng.offset;
    to[STEP_SCALE] = bits_of(run->trainer.mixed != NULL ? run->mixed.scaler.scale : 1);
}

void steps_close(StepsRun *run) {
    device_synchronize(run->device);
    optimizer_free(run->trainer.optimizer);
    model_free(run->trainer.model);
    memory_free(run->memory);
    device_free(run->device);
}
