/* Lab 09 in the probe: the fused op, the head, the control block, captured steps, two formulas. */
#include "grader/probe.h"

#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>

#include "common/graphed.h"
#include "grader/labs/09_fusion/part_launches.h"
#include "grader/labs/09_fusion/shared.h"
#include "grader/probe_techniques.h"
#include "labs/09_fusion/contract.h"

/* ---- the simulator's counts; a real GPU has none --------------------------------------------- */

#ifdef CUDASIM
#include <cudasim.h>
#include <cudasim_record.h>
#endif

static void record_begin(void) {
#ifdef CUDASIM
    cudasim_record_begin();
#endif
}

static size_t record_end(void) {
#ifdef CUDASIM
    return cudasim_record().count;
#else
    return 0;
#endif
}

static double traffic_bytes(void) {
#ifdef CUDASIM
    return cudasim_traffic_bytes();
#else
    return 0;
#endif
}

/* Adds up what the host has done since entry `from`. */
static void record_launches(size_t from, uint64_t *to) {
#ifdef CUDASIM
    CudasimRecord record = cudasim_record();
    for (size_t i = from; i < record.count; i++) {
        const CudasimEntry *e = &record.entry[i];
        to[LAUNCH_GRAPHS] += e->kind == CUDASIM_GRAPH;
        to[LAUNCH_OTHERS] += e->graph == 0 && e->kind <= CUDASIM_FILL;
        to[LAUNCH_WAITS] += e->kind == CUDASIM_HOST_WAIT;
        if (e->kind == CUDASIM_COPY && e->way == CUDASIM_TO_DEVICE) {
            to[LAUNCH_UPLOADED] += (uint64_t)e->bytes;
        }
    }
#else
    (void)from, (void)to;
#endif
}

/* ---- the fused op ---------------------------------------------------------------------------- */

/* Bytes of the sectors that were touched since the last question. */
static void norm_traffic(const NormCall *call) {
    double bytes = traffic_bytes();
    ((uint64_t *)wire_get(call->out, "traffic", WIRE_U64, NULL))[call->i] = (uint64_t)bytes;
}

static void norm_run_forward(const NormCall *call) {
    size_t N = (size_t)call->c->N, n = N * (size_t)call->c->C, element;
    element = precision_bytes((Precision)call->c->precision);
    Real *stream = norm_real(call, "stream"), *branch = norm_real(call, "branch");
    Real *weight = norm_real(call, "weight"), *bias = norm_real(call, "bias");
    Real *sum = call->c->in_place == NORM_IN_BRANCH   ? branch
                : call->c->in_place == NORM_IN_STREAM ? stream
                                                      : norm_new(call, n, element);
    Real *result = norm_new(call, n, element);
    float *mean = norm_new(call, N, sizeof *mean), *rstd = norm_new(call, N, sizeof *rstd);
    device_synchronize(call->device);
    norm_traffic(call);
    call->ops->residual_norm_forward(sum, result, mean, rstd, stream, branch, weight, bias,
                                     call->c->N, call->c->C, call->dropout);
    device_synchronize(call->device);
    norm_traffic(call);
    norm_give_real(call, "sum", sum);
    norm_give_real(call, "out", result);
    norm_give_float(call, "mean", mean);
    norm_give_float(call, "rstd", rstd);
}

static void norm_run_backward(const NormCall *call) {
    Real *dsum = norm_real(call, "dsum"), *dout = norm_real(call, "dout");
    Real *dbranch = call->c->in_place ? dout : norm_real(call, "dbranch");
    Real *sum = norm_real(call, "sum"), *weight = norm_real(call, "weight");
    float *mean = norm_float(call, "mean"), *rstd = norm_float(call, "rstd");
    float *dweight = norm_float(call, "dweight"), *dbias = norm_float(call, "dbias");
    device_synchronize(call->device);
    norm_traffic(call);
    call->ops->residual_norm_backward(dsum, dbranch, dweight, dbias, dout, sum, mean, rstd, weight,
                                      call->c->N, call->c->C, call->dropout, &call->workspace);
    device_synchronize(call->device);
    norm_traffic(call);
    norm_give_real(call, "dsum after", dsum);
    norm_give_real(call, "dbranch after", dbranch);
    norm_give_float(call, "dweight after", dweight);
    norm_give_float(call, "dbias after", dbias);
}

static void norm_forward(const Wire *in, Wire *out) {
    norm_calls(in, out, norm_run_forward);
}

static void norm_backward(const Wire *in, Wire *out) {
    norm_calls(in, out, norm_run_backward);
}

/* ---- the head -------------------------------------------------------------------------------- */

static void chunk_rows(const Wire *in, Wire *out) {
    size_t n;
    const int32_t *shape = wire_get(in, "shapes", WIRE_I32, &n);
    uint64_t *to = wire_get(out, "rows", WIRE_U64, NULL);
    for (size_t i = 0; i < n / 3; i++) {
        to[i] =
            (uint64_t)(int64_t)head_chunk_rows(shape[3 * i], shape[3 * i + 1], shape[3 * i + 2]);
    }
}

/* Of the pass in hand. */
static uint64_t *head_bytes;
/* The next gradient of the head's input is copied here; NULL: it is not asked for. */
static float *head_dx;
static MemoryUse head_before;

/* The model's table, which counts how often logits are computed, and rows. */
static Ops head_ops;
static const Ops *head_real_ops;
static uint64_t head_chunks, head_rows;

static void see_logits(Real *out, const Real *in, const Real *weight, const Real *bias, int N,
                       int C, int OC, int stride, const Workspace *workspace) {
    head_chunks++;
    head_rows += (uint64_t)N;
    head_real_ops->matmul_forward(out, in, weight, bias, N, C, OC, stride, workspace);
}

static void see_losses(float *losses, float *lse, const Real *logits, const int32_t *targets, int N,
                       int V, int stride) {
    head_rows += (uint64_t)N;
    head_real_ops->crossentropy_forward(losses, lse, logits, targets, N, V, stride);
}

static void see_dlogits(Real *dlogits, const Real *logits, const float *lse, const int32_t *targets,
                        float dloss, int N, int V, int stride) {
    head_rows += (uint64_t)N;
    head_real_ops->crossentropy_backward(dlogits, logits, lse, targets, dloss, N, V, stride);
}

static void head_counts(Model *model, bool counts) {
    head_chunks = counts ? 0 : head_chunks;
    head_rows = counts ? 0 : head_rows;
    model->ops = counts ? &head_ops : head_real_ops;
}

static uint64_t bytes_more(MemoryUse use) {
    return memory_total(&use) - memory_total(&head_before);
}

static double see_head_forward(Pass *pass, const Real *x) {
    head_before = memory_now(pass->memory);
    memory_peak_reset(pass->memory);
    head_counts(pass->model, true);
    double loss = head_forward(pass, x);
    head_counts(pass->model, false);
    head_bytes[HEAD_CHUNKS] = head_chunks;
    head_bytes[HEAD_ROWS] = head_rows;
    MemoryUse most = memory_peak(pass->memory);
    head_bytes[HEAD_FORWARD] = bytes_more(most);
    head_bytes[HEAD_KEPT] = bytes_more(memory_now(pass->memory));
    head_bytes[HEAD_OTHERS] =
        bytes_more(most) - most.bytes[MEMORY_ACTIVATIONS] + head_before.bytes[MEMORY_ACTIVATIONS];
    return loss;
}

static void see_head_backward(Pass *pass, const Real *x, float dloss) {
    memory_peak_reset(pass->memory);
    head_counts(pass->model, true);
    head_backward(pass, x, dloss);
    head_counts(pass->model, false);
    head_bytes[HEAD_CHUNKS_BACK] = head_chunks;
    head_bytes[HEAD_ROWS_BACK] = head_rows;
    head_bytes[HEAD_BACKWARD] = bytes_more(memory_peak(pass->memory));
    head_bytes[HEAD_LEFT] = bytes_more(memory_now(pass->memory));
    if (head_dx != NULL) {
        size_t n = (size_t)pass->B * (size_t)pass->T * (size_t)pass->model->config.C;
        device_download(pass->model->device, head_dx, pass->dx, n * sizeof *head_dx);
        head_dx += n;
    }
}

/* The weights of the GPT-2, also where adapters have frozen them. */
static void model_weights(const Wire *in, Model *model) {
    const float *weights = wire_get(in, "weights", WIRE_F32, NULL);
    for (int i = 0; i < model->base_count; i++) {
        model_upload_weight(model, &model->base[i], weights);
        weights += model->base[i].count;
    }
}

/* Forward and backward of the batches that are given, under a budget. */
static void head_passes(const Wire *in, Wire *out, ModelConfig config) {
    Device *device = probe_device(true, 0);
    size_t budget = *(const uint64_t *)wire_get(in, "budget", WIRE_U64, NULL);
    Memory *memory = memory_new(device, (MemoryOptions){.budget = budget});
    Model *model = model_new_zero(&config, memory);
    model_weights(in, model);
    head_real_ops = model->ops;
    head_ops = *model->ops;
    head_ops.matmul_forward = see_logits;
    head_ops.crossentropy_forward = see_losses;
    head_ops.crossentropy_backward = see_dlogits;
    model->head_forward = see_head_forward;
    model->head_backward = see_head_backward;
    head_bytes = wire_get(out, "head bytes", WIRE_U64, NULL);
    head_dx = config.precision == F32 ? wire_get(out, "dx", WIRE_F32, NULL) : NULL;
    uint64_t *losses = wire_get(out, "loss", WIRE_U64, NULL);
    uint64_t *left = wire_get(out, "logits left", WIRE_U64, NULL);
    for (int i = 0; i < given_batches(in); i++) {
        Batch batch = given_batch(in, i);
        double loss = model_forward(model, &batch);
        memcpy(&losses[i], &loss, sizeof loss);
        left[i] = model->pass.head.logits != NULL;
        model_backward(model, *(const float *)wire_get(in, "share", WIRE_F32, NULL));
        head_bytes += HEAD_NUMBERS;
    }
    if (config.adapter.rank == 0) {
        hand_back_gradients(out, model, NAME_GRADIENT, "step", 0);
    }
    model_free(model);
    memory_free(memory);
    device_free(device);
}

static void probe_head(const Wire *in, Wire *out) {
    head_passes(in, out, probe_config(in));
}

/* The same in another half than the model's. */
static void probe_head_f16(const Wire *in, Wire *out) {
    ModelConfig config = probe_config(in);
    config.precision = F16;
    head_passes(in, out, config);
}

/* The same frozen, beside adapters (lab 10): they have no part in it. */
static void probe_head_frozen(const Wire *in, Wire *out) {
    ModelConfig config = probe_config(in);
    config.adapter = (Adapter){.rank = 2, .targets = 1u << LINEAR_PROJ, .alpha = 1};
    head_passes(in, out, config);
}

/* ---- the control block ----------------------------------------------------------------------- */

static void *upload(Memory *memory, const void *values, size_t bytes) {
    void *data = memory_alloc(memory, MEMORY_ACTIVATIONS, "probe", -1, bytes);
    device_upload(memory_device(memory), data, values, bytes);
    return data;
}

static void clip_run(const Wire *in, Wire *out) {
    size_t n;
    const float *given = wire_get(in, "sums", WIRE_F32, &n); /* sum and limit of each */
    float *to = wire_get(out, "clipped", WIRE_F32, NULL);    /* norm, factor, found, sum */
    Device *device = probe_device(true, 0);
    Memory *memory = memory_new(device, (MemoryOptions){0});
    for (size_t i = 0; i < n / 2; i++) {
        StepResult result = {.norm = -1, .factor = -1, .found = 3, .sum = given[2 * i]};
        StepResult *on_device = upload(memory, &result, sizeof result);
        control_clip(on_device, given[2 * i + 1]);
        device_download(device, &result, on_device, sizeof result);
        float after[] = {result.norm, result.factor, result.found, result.sum};
        memcpy(to + 4 * i, after, sizeof after);
    }
    memory_free(memory);
    device_free(device);
}

typedef struct ControlList {
    float *data;
    TensorList list;
} ControlList;

/* All numbers as one tensor that decays, and one of a single number that does not; the weights'
   entries say so, and those of the others the opposite. */
static ControlList control_list(Memory *memory, const Wire *in, const char *what) {
    size_t n;
    bool decays = strcmp(what, "weight") == 0;
    const float *values = wire_get(in, what, WIRE_F32, &n);
    ControlList list = {.data = upload(memory, values, n * sizeof *values)};
    float *last = upload(memory, values + n - 1, sizeof *values);
    TensorEntry entry[] = {{.data = list.data, .n = n - 1, .decays = decays},
                           {.data = last, .n = 1, .decays = !decays}};
    size_t length = tensors_index(entry, 2);
    list.list = (TensorList){upload(memory, entry, sizeof entry), 2, n, length};
    list.data = last; /* to be handed back: see control_give() */
    return list;
}

static void control_give(Memory *memory, Wire *out, const char *what, const ControlList *list) {
    size_t n;
    TensorEntry entry[2];
    float *to = wire_get(out, what, WIRE_F32, &n);
    device_download(memory_device(memory), entry, list->list.tensor, sizeof entry);
    device_download(memory_device(memory), to, entry[0].data, (n - 1) * sizeof *to);
    device_download(memory_device(memory), to + n - 1, entry[1].data, sizeof *to);
}

static void control_update(const Wire *in, Memory *memory, float found, Wire *out) {
    const float *numbers = wire_get(in, "control", WIRE_F32, NULL);
    AdamW adamw = {999, numbers[0], numbers[1], numbers[2], numbers[3]};
    StepControl control = {
        .learning_rate = numbers[4], .correct1 = numbers[5], .correct2 = numbers[6]};
    StepResult result = {.norm = 1, .factor = numbers[7], .found = found, .sum = 1};
    ControlList weight = control_list(memory, in, "weight"), m = control_list(memory, in, "m");
    ControlList v = control_list(memory, in, "v"), grad = control_list(memory, in, "grad");
    control_adamw(weight.list, m.list, v.list, grad.list, adamw,
                  upload(memory, &control, sizeof control), upload(memory, &result, sizeof result));
    control_adamw((TensorList){0}, (TensorList){0}, (TensorList){0}, (TensorList){0}, adamw,
                  upload(memory, &control, sizeof control), upload(memory, &result, sizeof result));
    control_give(memory, out, "weight after", &weight);
    control_give(memory, out, "m after", &m);
    control_give(memory, out, "v after", &v);
    control_give(memory, out, "grad after", &grad);
}

static TensorList control_single(Memory *memory, float *number) {
    TensorEntry entry = {.data = number, .n = 1, .decays = true};
    size_t length = tensors_index(&entry, 1);
    return (TensorList){upload(memory, &entry, sizeof entry), 1, 1, length};
}

/* Of one number, with a rate of 0: a grid is that of each call. */
static void control_update_single(Memory *memory, Wire *out) {
    float *to = wire_get(out, "single after", WIRE_F32, NULL); /* weight, m, v */
    const float before[] = SINGLE_BEFORE;
    float *x[SINGLE_NUMBERS];
    TensorList list[SINGLE_NUMBERS];
    for (int i = 0; i < SINGLE_NUMBERS; i++) {
        x[i] = upload(memory, &before[i], sizeof before[i]);
        list[i] = control_single(memory, x[i]);
    }
    StepControl control = {.correct1 = 1, .correct2 = 1};
    StepResult result = {.norm = 1, .factor = 1, .sum = 1};
    control_adamw(list[0], list[1], list[2], list[3], SINGLE_ADAMW,
                  upload(memory, &control, sizeof control), upload(memory, &result, sizeof result));
    for (int i = 0; i < SINGLE_NUMBERS - 1; i++) {
        device_download(memory_device(memory), &to[i], x[i], sizeof to[i]);
    }
}

/* One that is not skipped comes first: a skipped one does not show how its work is shared. */
static void control_run(const Wire *in, Wire *out) {
    Device *device = probe_device(true, 0);
    Memory *memory = memory_new(device, (MemoryOptions){0});
    control_update_single(memory, out);
    control_update(in, memory, 0, out);
    control_update(in, memory, ((const float *)wire_get(in, "control", WIRE_F32, NULL))[8], out);
    memory_free(memory);
    device_free(device);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Counts what the host has done since entry `from`. */
static void steps_count(const StepsRun *run, size_t from) {
    uint64_t *to = wire_get(run->out, "launches", WIRE_U64, NULL);
    to += (size_t)run->number * LAUNCH_NUMBERS;
    memset(to, 0, LAUNCH_NUMBERS * sizeof *to);
    record_launches(from, to);
}

static void probe_steps(const Wire *in, Wire *out) {
    static StepsRun run;
    if (((const int32_t *)wire_get(in, "options", WIRE_I32, NULL))[STEPS_RECORDED]) {
        record_begin();
    }
    steps_open(&run, in, out);
    probe_techniques(&run.trainer);
    run.trainer.model->checkpoint.segment = run.option[STEPS_SEGMENT];
    run.trainer.model->fused_norm = run.option[STEPS_FUSED] != 0;
    Graphed *graphed = graphed_new(&run.trainer);
    for (int i = 0; i < run.option[STEPS_COUNT]; i++) {
        int count = steps_window(&run, i);
        if (i > 0 && i == run.option[STEPS_ANEW]) {
            graphed_free(graphed);
            graphed = graphed_new(&run.trainer);
        }
        size_t before = run.option[STEPS_RECORDED] ? record_end() : 0;
        StepReport report = step_graph_run(graphed, run.batch, count);
        if (run.option[STEPS_RECORDED]) {
            steps_count(&run, before);
        }
        steps_give(&run, &report);
    }
    graphed_free(graphed);
    steps_close(&run);
}

/* ---- formulas -------------------------------------------------------------------------------- */

static void chains(const Wire *in, Wire *out) {
    size_t n;
    const uint64_t *asked = wire_get(in, "asked", WIRE_U64, &n);
    uint64_t *to = wire_get(out, "bytes", WIRE_U64, NULL);
    for (size_t i = 0; i < n / 5; i++, asked += 5) {
        to[i] = chain_bytes((OpChain)asked[0], asked[1] != 0, asked[2], asked[3], asked[4]);
    }
}

const ProbeCase probe_cases[] = {{"norm_forward", norm_forward},
                                 {"norm_backward", norm_backward},
                                 {"forward_launches", launches_forward},
                                 {"backward_launches", launches_backward},
                                 {"clip_launches", launches_clip},
                                 {"control_launches", launches_control},
                                 {"chunk_rows", chunk_rows},
                                 {"head", probe_head},
                                 {"head f16", probe_head_f16},
                                 {"head frozen", probe_head_frozen},
                                 {"clip", clip_run},
                                 {"control", control_run},
                                 {"steps", probe_steps},
                                 {"chains", chains},
                                 {NULL, NULL}};
