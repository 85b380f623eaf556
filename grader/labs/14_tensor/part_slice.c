#include "grader/labs/14_tensor/part_slice.h"

const float *slice_run_given(const RankRun *run, const char *what, size_t *n) {
    char name[WIRE_NAME];
    return wire_get(run->in, rank_name(name, what, run->rank, "window", 0), WIRE_F32, n);
}

/* The model's layers are the submission's. */
static void slice_hook(SliceRun *slice, Model *model) {
    model->split = &slice->group;
    model->linear_forward = tp_forward;
    model->linear_backward = tp_backward;
    model->embed_forward = tp_embed_forward;
    model->embed_backward = tp_embed_backward;
    model->head_forward = tp_head_forward;
    model->head_backward = tp_head_backward;
    model->grad_norm = slice_norm;
}

void slice_run_before(SliceRun *slice) {
    const RankRun *run = slice->run;
    MemoryMark mark = memory_mark(run->memory);
    ModelConfig config = slice->model->config;
    ModelPart part = slice->model->part;
    config.L = part.last = 1;
    config.V -= run->ranks; /* a row less on each rank */
    part.vocab_first -= run->rank;
    part.vocab_rows--;
    Model *model = model_new_part(&config, &part, run->memory, 1);
    slice_hook(slice, model);
    const int32_t id = 0;
    Batch batch = {.B = 1, .T = 1, .tokens = &id, .targets = &id, .valid = 1};
    model_evaluate(model, &batch);
    model_free(model);
    memory_release(run->memory, mark);
}

void slice_run_open(SliceRun *slice, RankRun *run) {
    ModelConfig config = probe_config(run->in);
    const int32_t *rows = wire_get(run->in, "rows", WIRE_I32, NULL);
    ModelPart part = model_whole(&config);
    part.shards = run->ranks;
    part.shard = run->rank;
    part.vocab_first = rows[2 * run->rank];
    part.vocab_rows = rows[2 * run->rank + 1];
    *slice =
        (SliceRun){.run = run, .group = {.comm = run->comm, .size = run->ranks, .rank = run->rank}};
    if (run->device->host_memory) { /* where ops are in no stream, collectives may be in any */
        cudaError_t opened = cudaStreamCreate(&slice->group.stream);
        CHECK(opened == cudaSuccess, "%s", cudaGetErrorString(opened));
    }
    Model *model = slice->model = model_new_part(&config, &part, run->memory, 1);
    const float *weights = slice_run_given(run, "weights", NULL);
    const float *before = slice_run_given(run, "before", NULL);
    for (int i = 0; i < model->param_count; i++) {
        Param *param = &model->params[i];
        model_upload_weight(model, param, weights);
        device_upload(run->device, param->grad, before, param->count * sizeof *before);
        weights += param->count;
        before += param->count;
    }
    slice_hook(slice, model);
}

void slice_run_close(SliceRun *slice) {
    device_synchronize(slice->run->device);
    model_free(slice->model);
    if (slice->group.stream != NULL) {
        cudaStreamDestroy(slice->group.stream);
    }
}

/* ---- tensors in the storage type ------------------------------------------------------------- */

Real *slice_run_real(const SliceRun *slice, const char *what) {
    size_t n;
    const Model *model = slice->model;
    const float *values = slice_run_given(slice->run, what, &n);
    Real *to = memory_alloc(model->memory, MEMORY_ACTIVATIONS, what, -1,
                            n * precision_bytes(model->config.precision));
    if (model->config.precision == F32) {
        device_upload(model->device, to, values, n * sizeof *values);
        return to;
    }
    float *floats = memory_alloc(model->memory, MEMORY_ACTIVATIONS, what, -1, n * sizeof *floats);
    device_upload(model->device, floats, values, n * sizeof *values);
    model->ops->cast_from_float(to, floats, n);
    return to;
}

void slice_run_give_real(const SliceRun *slice, const char *what, const Real *from) {
    char name[WIRE_NAME];
    size_t n;
    const Model *model = slice->model;
    wire_get(slice->run->out, rank_name(name, what, slice->run->rank, "window", 0), WIRE_F32, &n);
    if (model->config.precision == F32) {
        rank_give(slice->run, what, 0, (const float *)from, n);
        return;
    }
    float *floats = memory_alloc(model->memory, MEMORY_ACTIVATIONS, what, -1, n * sizeof *floats);
    model->ops->cast_to_float(floats, from, n);
    rank_give(slice->run, what, 0, floats, n);
}

void slice_run_give_grad(const SliceRun *slice, const char *what, const Param *param) {
    rank_give(slice->run, what, 0, param->grad, param->count);
}

Real *slice_run_room(const SliceRun *slice, size_t n) {
    return memory_alloc_zero(slice->model->memory, MEMORY_ACTIVATIONS, "room", -1,
                             n * precision_bytes(slice->model->config.precision));
}
