/* Lab 10 in the probe: a layer by itself, a model that trains, merges. */
#include <stdlib.h>
#include <string.h>

#include "grader/labs/10_lora/shared.h"
#include "grader/probe.h"
#include "grader/probe_heap.h"
#include "grader/probe_training.h"
#include "labs/04_checkpoint/contract.h"
#include "labs/10_lora/contract.h"

enum { ROOM_BYTES = 256 << 20 };

/* ---- a layer by itself ----------------------------------------------------------------------- */

typedef struct LayerRun {
    const Wire *in;
    Wire *out;
    Model *model;
} LayerRun;

/* A given tensor in the storage type. */
static Real *given_real(const LayerRun *run, const char *name) {
    size_t n;
    const float *values = wire_get(run->in, name, WIRE_F32, &n);
    const Model *model = run->model;
    Real *to = memory_alloc(model->memory, MEMORY_ACTIVATIONS, "given", -1,
                            n * precision_bytes(model->config.precision));
    if (model->config.precision == F32) {
        device_upload(model->device, to, values, n * sizeof *values);
        return to;
    }
    MemoryMark mark = memory_mark(model->memory);
    float *floats =
        memory_alloc(model->memory, MEMORY_ACTIVATIONS, "given", -1, n * sizeof *floats);
    device_upload(model->device, floats, values, n * sizeof *values);
    model->ops->cast_from_float(to, floats, n);
    memory_release(model->memory, mark);
    return to;
}

static void hand_back_real(const LayerRun *run, const char *name, const Real *from) {
    size_t n;
    const Model *model = run->model;
    float *values = wire_get(run->out, name, WIRE_F32, &n);
    if (model->config.precision == F32) {
        device_download(model->device, values, from, n * sizeof *values);
        return;
    }
    MemoryMark mark = memory_mark(model->memory);
    float *floats =
        memory_alloc(model->memory, MEMORY_ACTIVATIONS, "wanted", -1, n * sizeof *floats);
    model->ops->cast_to_float(floats, from, n);
    device_download(model->device, values, floats, n * sizeof *values);
    memory_release(model->memory, mark);
}

static void set_matrix(const LayerRun *run, const Param *matrix, const char *name,
                       const char *gradient) {
    model_upload_weight(run->model, (Param *)(uintptr_t)matrix,
                        wire_get(run->in, name, WIRE_F32, NULL));
    device_upload(run->model->device, matrix->grad, wire_get(run->in, gradient, WIRE_F32, NULL),
                  matrix->count * sizeof(float));
}

static void set_bias(const LayerRun *run, int at, LinearId id) {
    Param *bias = &model_block_params(run->model, at)[linear_weight(id)] + 1;
    model_upload_weight(run->model, bias, wire_get(run->in, "bias", WIRE_F32, NULL));
}

static void hand_back_gradient(const LayerRun *run, const char *name, const Param *matrix) {
    device_download(run->model->device, wire_get(run->out, name, WIRE_F32, NULL), matrix->grad,
                    matrix->count * sizeof(float));
}

/* A layer that has run before, while the model trained. */
static Linear used_linear(Pass *pass, int at, LinearId id) {
    Linear linear = linear_of(pass, at, id);
    linear.mask = (Dropout){.p = LEFT_P, .seed = pass->model->rng.seed, .offset = LEFT_OFFSET};
    return linear;
}

/* A layer that runs once more. */
typedef struct LayerAgain {
    Linear *linear;
    Real *out, *din;
    const Real *dout, *x;
    bool trains;
} LayerAgain;

static void run_again(void *context) {
    const LayerAgain *again = context;
    lora_forward(again->linear, again->out, again->x);
    if (again->trains) {
        lora_backward(again->linear, again->din, again->dout, again->x);
    }
}

/* The same layer of the next block runs in between, on another input: nothing of a layer may stand
   anywhere but in its Linear. */
static void run_layer(const LayerRun *run) {
    Pass *pass = &run->model->pass;
    int at = given_number(run->in, LAYER_AT);
    LinearId id = (LinearId)given_number(run->in, LAYER_ID);
    bool trains = given_number(run->in, LAYER_TRAIN);
    Linear linear = used_linear(pass, at, id), other = used_linear(pass, 1 - at, id);
    set_matrix(run, linear.A, "A", "dA before");
    set_matrix(run, linear.B, "B", "dB before");
    set_bias(run, at, id);
    Real *x = given_real(run, "x"), *other_x = given_real(run, "other x");
    Real *out = given_real(run, "dout"), *other_out = given_real(run, "dout");
    Real *dout = given_real(run, "dout"), *din = given_real(run, "din before");
    lora_forward(&linear, out, x);
    uint64_t *mask = wire_get(run->out, "mask", WIRE_U64, NULL);
    mask[0] = linear.mask.p > 0 ? linear.mask.offset : 0;
    lora_forward(&other, other_out, other_x);
    hand_back_real(run, "out", out);
    if (trains) {
        lora_backward(&linear, din, dout, x);
        hand_back_real(run, "din", din);
        hand_back_gradient(run, "dA", linear.A);
        hand_back_gradient(run, "dB", linear.B);
    }
    mask[1] = run->model->rng.offset;
    hand_back_real(run, "in", x);
    hand_back_real(run, "dout", dout);
    LayerAgain again = {&linear, out, din, dout, x, trains};
    bool simulated = run->model->device->simulated; /* it has a heap of its own */
    *(uint64_t *)wire_get(run->out, "left", WIRE_U64, NULL) =
        simulated ? 0 : heap_left(run_again, &again);
}

static void layer_in(const Wire *in, Wire *out, const ModelConfig *config) {
    Device *device = probe_device(given_number(in, LAYER_GPU), ROOM_BYTES);
    Memory *memory = memory_new(device, (MemoryOptions){.checked = !device->simulated});
    LayerRun run = {
        in, out,
        model_new(config, memory, *(const uint64_t *)wire_get(in, "seed", WIRE_U64, NULL))};
    int32_t ids[4096] = {0};
    Batch batch = {.B = given_number(in, LAYER_B),
                   .T = given_number(in, LAYER_T),
                   .tokens = ids,
                   .targets = ids};
    model_begin(run.model, &batch, given_number(in, LAYER_TRAIN));
    rng_take(&run.model->rng, 5); /* masks do not begin where the stream does */
    run_layer(&run);
    model_end(run.model);
    memory_free(memory);
}

static void layer(const Wire *in, Wire *out) {
    ModelConfig config = probe_config(in);
    layer_in(in, out, &config);
}

/* The same in another half than the model's, after a model that has another scale. */
static void layer_f16(const Wire *in, Wire *out) {
    ModelConfig config = probe_config(in), before = config;
    before.adapter.alpha *= 2;
    layer_in(in, out, &before);
    config.precision = F16;
    layer_in(in, out, &config);
}

/* ---- a model --------------------------------------------------------------------------------- */

static void begin(const Wire *in, Model *model) {
    if (given_number(in, RUN_FRESH)) {
        lora_init(model, *(const uint64_t *)wire_get(in, "seed", WIRE_U64, NULL));
    } else {
        given_params(model, model->params, model->param_count,
                     wire_get(in, "adapters", WIRE_F32, NULL));
    }
    model->linear_forward = lora_forward;
    model->linear_backward = lora_backward;
    if (given_number(in, RUN_DROP)) {
        model->dropped = lora_dropped(&model->config);
    }
}

static size_t given_budget(const Wire *in) {
    return *(const uint64_t *)wire_get(in, "budget", WIRE_U64, NULL);
}

static void adapters(const Wire *in, Wire *out) {
    lora_passes(in, out,
                &(RunBy){.begin = begin,
                         .forward = model_forward,
                         .backward = model_backward,
                         .budget = given_budget(in)});
}

static uint64_t scratch_seen[SCRATCH_NUMBERS];

typedef struct ScratchMeasure {
    Memory *memory;
    MemoryUse before;
} ScratchMeasure;

static ScratchMeasure scratch_begin(const Linear *linear) {
    Memory *memory = linear->pass->memory;
    memory_peak_reset(memory);
    return (ScratchMeasure){memory, memory_now(memory)};
}

static void scratch_note(int which, size_t bytes, size_t allowed) {
    if (bytes > allowed + scratch_seen[which]) {
        scratch_seen[which] = bytes - allowed;
    }
}

/* `width`: numbers of scratch that the layer may take in a row, but for the masked input. */
static void scratch_end(ScratchMeasure measure, const Linear *linear, size_t width, int backward) {
    const Model *model = linear->pass->model;
    width += linear->mask.p > 0 ? (size_t)linear->IC : 0;
    size_t allowed = (size_t)linear->N * width * precision_bytes(model->config.precision);
    MemoryUse peak = memory_peak(measure.memory), now = memory_now(measure.memory);
    size_t before = memory_total(&measure.before), taken = memory_total(&peak) - before;
    size_t activations = peak.bytes[MEMORY_ACTIVATIONS] - measure.before.bytes[MEMORY_ACTIVATIONS];
    scratch_note(SCRATCH_BEYOND + backward, taken, allowed);
    scratch_note(SCRATCH_OTHER + backward, taken, activations);
    scratch_note(SCRATCH_LEFT + backward, memory_total(&now), before);
}

static void measured_forward(Linear *linear, Real *out, const Real *in) {
    ScratchMeasure measure = scratch_begin(linear);
    lora_forward(linear, out, in);
    scratch_end(measure, linear, (size_t)linear->OC + (size_t)linear->A->rows, 0);
}

static void measured_backward(const Linear *linear, Real *din, const Real *dout, const Real *in) {
    ScratchMeasure measure = scratch_begin(linear);
    lora_backward(linear, din, dout, in);
    scratch_end(measure, linear, 2 * (size_t)linear->A->rows, 1);
}

static void begin_measured(const Wire *in, Model *model) {
    begin(in, model);
    model->linear_forward = measured_forward;
    model->linear_backward = measured_backward;
}

static void measured(const Wire *in, Wire *out) {
    lora_passes(in, out,
                &(RunBy){.begin = begin_measured,
                         .forward = model_forward,
                         .backward = model_backward,
                         .budget = given_budget(in)});
    memcpy(wire_get(out, "scratch", WIRE_U64, NULL), scratch_seen, sizeof scratch_seen);
}

/* Blocks run once more in backward: lab 04's step. */
static void begin_again(const Wire *in, Model *model) {
    begin(in, model);
    model->checkpoint.segment = given_number(in, RUN_SEGMENT);
}

static void adapters_again_case(const Wire *in, Wire *out) {
    lora_passes(in, out,
                &(RunBy){.begin = begin_again,
                         .forward = checkpoint_forward,
                         .backward = checkpoint_backward,
                         .budget = given_budget(in)});
}

/* The start of adapters in a precision. */
static void init_in(const Wire *in, Wire *out, Memory *memory, Precision precision,
                    const char *name) {
    ModelConfig config = probe_config(in);
    config.precision = precision;
    Model *model = model_new_zero(&config, memory);
    lora_init(model, *(const uint64_t *)wire_get(in, "seed", WIRE_U64, NULL));
    hand_back_params(out, name, model, model->params, model->param_count);
}

/* The same numbers in half, and where the host cannot reach them. */
static void init_elsewhere(const Wire *in, Wire *out) {
    Memory *memory = memory_new(probe_device(true, 0), (MemoryOptions){0});
    init_in(in, out, memory, F32, "on the GPU");
    memory_free(memory);
    memory = memory_new(probe_device(false, ROOM_BYTES), (MemoryOptions){.checked = true});
    init_in(in, out, memory, F16, "in f16");
    init_in(in, out, memory, BF16, "in bf16");
    memory_free(memory);
}

/* Nothing of A and B is as a new model has it. */
static void fill_adapters(Model *model) {
    for (int i = 0; i < model->param_count; i++) {
        Param *param = &model->params[i];
        float *values = malloc(param->count * sizeof *values);
        CHECK(values != NULL, "no memory for %zu numbers", param->count);
        for (size_t j = 0; j < param->count; j++) {
            values[j] = 1;
        }
        model_upload_weight(model, param, values);
        free(values);
    }
}

static void init_again(void *model) {
    lora_init(model, 1);
}

static void init(const Wire *in, Wire *out) {
    ModelConfig config = probe_config(in);
    Memory *memory = memory_new(probe_device(false, ROOM_BYTES), (MemoryOptions){.checked = true});
    uint64_t seed = *(const uint64_t *)wire_get(in, "seed", WIRE_U64, NULL);
    Model *model = model_new(&config, memory, seed);
    lora_init(model, seed);
    hand_back_params(out, "first", model, model->params, model->param_count);
    fill_adapters(model);
    lora_init(model, seed);
    hand_back_params(out, "again", model, model->params, model->param_count);
    lora_init(model, seed + 1);
    hand_back_params(out, "other", model, model->params, model->param_count);
    lora_init(model, seed + FAR_SEED);
    hand_back_params(out, "far", model, model->params, model->param_count);
    *(uint64_t *)wire_get(out, "left", WIRE_U64, NULL) = heap_left(init_again, model);
    memory_free(memory);
}

/* ---- merging --------------------------------------------------------------------------------- */

static Model *model_to_merge(const Wire *in, Memory *memory, const ModelConfig *config) {
    Model *model =
        model_new(config, memory, *(const uint64_t *)wire_get(in, "seed", WIRE_U64, NULL));
    given_params(model, model->params, model->param_count,
                 wire_get(in, "adapters", WIRE_F32, NULL));
    return model;
}

/* Hands the weights back as what they are after that call of lora_merge(), if they are anything. */
static void hand_back_merged(Wire *out, const Model *model, int step) {
    static const char *const name[MERGES] = {"merged", "taken out", NULL, NULL, "swapped"};
    if (name[step] != NULL) {
        hand_back_params(out, name[step], model, model->base, model->base_count);
    }
}

static void merge(const Wire *in, Wire *out) {
    static const MergeStep steps[MERGES] = MERGE_STEPS;
    Memory *memory = memory_new(probe_device(false, ROOM_BYTES), (MemoryOptions){.checked = true});
    ModelConfig config = probe_config(in);
    Model *model = model_to_merge(in, memory, &config);
    Batch batch = given_batch(in, 0);
    model->linear_forward = lora_forward;
    model_next_logits(model, &batch, wire_get(out, "beside", WIRE_F32, NULL));
    model->linear_forward = NULL;
    for (int i = 0; i < MERGES; i++) {
        given_params(model, model->params, model->param_count,
                     wire_get(in, steps[i].others ? "others" : "adapters", WIRE_F32, NULL));
        lora_merge(model, (float)steps[i].sign);
        hand_back_merged(out, model, i);
        if (i == 0) {
            model_next_logits(model, &batch, wire_get(out, "inside", WIRE_F32, NULL));
            hand_back_params(out, "trained", model, model->params, model->param_count);
        }
    }
    memory_free(memory);
}

static void merge_and_back(void *model) {
    lora_merge(model, -1);
    lora_merge(model, 1);
}

/* Merges another model with another scale: nothing of it may be left in the one that counts. */
static void merge_before(const Wire *in, Memory *memory, ModelConfig config) {
    config.adapter.alpha *= 2;
    lora_merge(model_to_merge(in, memory, &config), 1);
}

static void merge_once(const Wire *in, Wire *out) {
    const int32_t *how = wire_get(in, "how", WIRE_I32, NULL);
    ModelConfig config = probe_config(in);
    config.precision = (Precision)how[HOW_PRECISION];
    config.adapter.targets = (unsigned)how[HOW_TARGETS];
    Device *device = probe_device(how[HOW_GPU], ROOM_BYTES);
    Memory *memory = memory_new(device, (MemoryOptions){.checked = !device->simulated});
    merge_before(in, memory, config);
    Model *model = model_to_merge(in, memory, &config);
    lora_merge(model, 1);
    hand_back_params(out, "merged", model, model->base, model->base_count);
    *(uint64_t *)wire_get(out, "left", WIRE_U64, NULL) =
        device->simulated ? 0 : heap_left(merge_and_back, model) / 2;
    memory_free(memory);
}

const ProbeCase probe_cases[] = {
    {"layer", layer},
    {"layer f16", layer_f16},
    {"adapters", adapters},
    {"measured", measured},
    {"again", adapters_again_case},
    {"init", init},
    {"init elsewhere", init_elsewhere},
    {"merge", merge},
    {"merge once", merge_once},
    {NULL, NULL},
};
