/* Tables of ops and a device that write down each call of a step. The contract is in
   probe_watch.h. */
#include "grader/probe_watch.h"

#include <stdlib.h>
#include <string.h>

/* Ops and devices have no place for a context of their own. */
static struct {
    const Model *model;
    const Batch *batches;
    int count;
    Ops ops[3];   /* as the device has them now */
    Ops real_ops; /* what those of the model's precision are */
    void (*real_fill)(Device *device, void *data, int byte, size_t bytes);
    int events;
    uint64_t trace[TRACE_LENGTH];
} watch;

void watch_note(Event event) {
    if (watch.events < TRACE_LENGTH) {
        watch.trace[watch.events++] = event;
    }
}

bool watch_noted(Event event) {
    for (int i = 0; i < watch.events; i++) {
        if (watch.trace[i] == event) {
            return true;
        }
    }
    return false;
}

void watch_take(uint64_t trace[TRACE_LENGTH]) {
    memcpy(trace, watch.trace, sizeof watch.trace);
    memset(watch.trace, 0, sizeof watch.trace);
    watch.events = 0;
}

/* For what is called once for each parameter. */
static void note_run(Event event) {
    if (watch.events == 0 || watch.trace[watch.events - 1] != event) {
        watch_note(event);
    }
}

/* `tokens` lie on the device. */
static Event which_forward(const int32_t *tokens, int B, int T) {
    Event event = EVENT_STRANGER;
    size_t bytes = (size_t)B * (size_t)T * sizeof *tokens;
    int32_t *ids = malloc(bytes);
    CHECK(ids != NULL, "no host memory for %zu bytes", bytes);
    device_download(watch.model->device, ids, tokens, bytes);
    for (int i = 0; i < watch.count && event == EVENT_STRANGER; i++) {
        const Batch *batch = &watch.batches[i];
        if (batch->B == B && batch->T == T && memcmp(batch->tokens, ids, bytes) == 0) {
            event = EVENT_FORWARD + (Event)i;
        }
    }
    free(ids);
    return event;
}

static void see_embedding(Real *out, const int32_t *tokens, const Real *wte, const Real *wpe, int B,
                          int T, int C) {
    watch_note(watch.model->pass.train ? which_forward(tokens, B, T) : EVENT_LOOK);
    watch.real_ops.embedding_forward(out, tokens, wte, wpe, B, T, C);
}

static void see_crossentropy(Real *dlogits, const Real *logits, const float *lse,
                             const int32_t *targets, float dloss, int N, int V, int stride) {
    watch_note(EVENT_BACKWARD);
    watch.real_ops.crossentropy_backward(dlogits, logits, lse, targets, dloss, N, V, stride);
}

static void see_sumsq(float *out, TensorList x, const Workspace *workspace) {
    note_run(EVENT_NORM);
    watch.real_ops.sumsq(out, x, workspace);
}

static void see_scale(TensorList x, float factor) {
    note_run(EVENT_SCALE);
    watch.real_ops.scale(x, factor);
}

static void see_fill(Device *device, void *data, int byte, size_t bytes) {
    for (int i = 0; i < watch.model->param_count; i++) {
        if (data == watch.model->params[i].grad) {
            note_run(EVENT_ZERO);
        }
    }
    watch.real_fill(device, data, byte, bytes);
}

void watch_model(Model *model, const Batch *batches, int count) {
    watch.model = model;
    watch.batches = batches;
    watch.count = count;
    watch.real_fill = model->device->fill;
    memcpy(watch.ops, model->device->ops, sizeof watch.ops);
    Ops *ops = &watch.ops[model->config.precision];
    watch.real_ops = *ops;
    ops->embedding_forward = see_embedding;
    ops->crossentropy_backward = see_crossentropy;
    ops->sumsq = see_sumsq;
    ops->scale = see_scale;
    model->device->fill = see_fill;
    model->device->ops = watch.ops; /* else a step could go by this table, unseen */
    model->ops = ops;
}
