/* The windows of a run in stages. The contract is in pipeline.h; saves are in pipeline_save.c. */
#include "train/pipeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "labs/05_fp16/contract.h"
#include "train/segments.h"

/* ---- the stage ------------------------------------------------------------------------------- */

/* Makes the list of what is trained that of this stage: optimizer, scaler and clipping go over it,
   and need not know of other stages. */
static void keep_own(Model *model) {
    Param *own = calloc((size_t)model->base_count, sizeof *own);
    float **grads = calloc((size_t)model->base_count, sizeof *grads);
    CHECK(own && grads, "no memory for %d parameters", model->base_count);
    model->param_count = 0;
    for (int i = 0; i < model->base_count; i++) {
        if (model->base[i].weight != NULL) {
            grads[model->param_count] = model->base[i].grad;
            own[model->param_count++] = model->base[i];
        }
    }
    model->params = own; /* model_free() frees both lists */
    model->grads = model_list(model, grads, (void *)(uintptr_t)model->grads.tensor);
    free(grads);
}

Model *pipeline_open(Pipeline *pipeline, const TrainOptions *options, const Grid *grid, Comm *comm,
                     const Data *data, Memory *memory) {
    size_t micros = (size_t)options->accumulation;
    size_t room = (size_t)data_batch_rows(data) * (size_t)options->T;
    bool end = grid->stage == 0 || grid->stage == grid->stages - 1;
    ModelPart part = pipe_part(&options->config, grid->stages, grid->stage);
    Model *model = model_new_part(&options->config, &part, memory, (uint64_t)options->seed);
    model_init_weights(model, (uint64_t)options->seed);
    keep_own(model);
    *pipeline = (Pipeline){.pipe = {.model = model,
                                    .stages = grid->stages,
                                    .stage = grid->stage,
                                    .comm = grid->of_stages,
                                    .ends = end ? grid->of_ends : NULL},
                           .comm = comm,
                           .data = data,
                           .micros = options->accumulation,
                           .batches = calloc(micros, sizeof(Batch)),
                           .ids = calloc(micros * 2 * room, sizeof(int32_t)),
                           .room = room};
    CHECK(pipeline->batches && pipeline->ids, "no memory for %zu micro-batches", micros);
    return model;
}

void pipeline_close(Pipeline *pipeline) {
    free(pipeline->batches);
    free(pipeline->ids);
}

static bool checkpointed(Checkpoint checkpoint) {
    return checkpoint.segment > 0 || checkpoint.attention_only;
}

MemoryUse pipeline_predict(const TrainOptions *options, const Grid *grid, int B,
                           const Device *device) {
    PipePlan plan = {.stages = grid->stages, .stage = grid->stage, .micros = options->accumulation};
    MemoryUse use = pipe_bytes(&options->config, &plan, B, options->T);
    use.bytes[MEMORY_WORKSPACE] = workspace_bytes(&options->config, device);
    if (checkpointed(options->checkpoint)) {
        use.bytes[MEMORY_ACTIVATIONS] =
            segments_bytes(&options->config, &plan, options->checkpoint, B, options->T);
    }
    return use;
}

size_t pipeline_states(const Optimizer *optimizer) {
    size_t bytes = 0;
    for (int i = 0; i < optimizer->state_count; i++) {
        bytes += optimizer->states[i].count * optimizer->states[i].size;
    }
    return bytes;
}

double pipeline_sent(const TrainOptions *options, const Grid *grid, int B) {
    PipePlan plan = {.stages = grid->stages, .stage = grid->stage, .micros = options->accumulation};
    MemoryUse use = pipe_bytes(&options->config, &plan, B, options->T);
    double norm = 2.0 * (grid->stages - 1) / grid->stages * sizeof(float);
    double sum = 2.0 * (grid->replicas - 1) / grid->replicas;
    return (double)pipe_wire(&options->config, &plan, B, options->T) + norm +
           sum * (double)use.bytes[MEMORY_GRADIENTS];
}

/* ---- a window -------------------------------------------------------------------------------- */

/* Keeps the micro-batch: the next one will be in its place. */
static double forward(Trainer *trainer, const Batch *batch) {
    Pipeline *pipeline = trainer->pipeline;
    size_t n = (size_t)batch->B * (size_t)batch->T;
    CHECK(pipeline->kept < pipeline->micros && n <= pipeline->room,
          "%d micro-batches are kept already, and there are %zu tokens more", pipeline->kept, n);
    int32_t *tokens = pipeline->ids + (size_t)pipeline->kept * 2 * pipeline->room;
    int32_t *targets = tokens + pipeline->room;
    memcpy(tokens, batch->tokens, n * sizeof *tokens);
    memcpy(targets, batch->targets, n * sizeof *targets);
    Batch *kept = &pipeline->batches[pipeline->kept++];
    *kept = *batch;
    kept->tokens = tokens;
    kept->targets = targets;
    return 0; /* known when the window has run: pipeline->loss */
}

/* Whether a gradient of any stage is inf or NaN. */
static bool any_overflow(const Pipeline *pipeline) {
    const Model *model = pipeline->pipe.model;
    int count = comm_size(pipeline->comm);
    float found = 0, *all = malloc((size_t)count * sizeof *all);
    CHECK(all != NULL, "no memory for %d ranks", count);
    device_fill(model->device, model->result, 0, sizeof found);
    for (int i = model->param_count - 1; i >= 0; i--) {
        model->ops->unscale(model->params[i].grad, model->params[i].count, 1, model->result);
    }
    device_download(model->device, &found, model->result, sizeof found);
    comm_gather(pipeline->comm, &found, sizeof found, all);
    bool any = false;
    for (int r = 0; r < count; r++) {
        any = any || all[r] != 0;
    }
    free(all);
    return any;
}

/* Lab 05 looks at the gradients of its own rank: there it finds what the others have found. */
static void share_overflow(const Pipeline *pipeline) {
    const Model *model = pipeline->pipe.model;
    if (any_overflow(pipeline)) {
        float infinite = INFINITY;
        device_upload(model->device, model->params[0].grad, &infinite, sizeof infinite);
    }
}

/* Who sums gradients over replicas as parts are left (lab 11) learns of it when a window's are
   complete, the tied one too. */
static void leave_parts(Model *model, void (*leave)(void *context, int layer, bool backward)) {
    model->leave = leave;
    for (int layer = model->config.L; layer >= -1 && leave != NULL; layer--) {
        leave(model->parts_context, layer, true);
    }
}

static void backward(Trainer *trainer, float share) {
    Pipeline *pipeline = trainer->pipeline;
    Model *model = trainer->model;
    void (*leave)(void *context, int layer, bool backward) = model->leave;
    if (pipeline->kept < pipeline->micros && data_batches_left(pipeline->data) > 0) {
        return;
    }
    float dloss = trainer->mixed != NULL ? mixed_scale(trainer->mixed, share) : share;
    model->leave = NULL;
    double loss = pipe_window(&pipeline->pipe, pipeline->batches, pipeline->kept, dloss);
    pipeline->loss = loss * (double)share;
    pipeline->kept = 0;
    tie_sum(&pipeline->pipe);
    if (trainer->mixed != NULL) {
        share_overflow(pipeline);
    }
    leave_parts(model, leave);
}

static float grad_norm(Model *model) {
    return tie_norm(model->norm_context);
}

void pipeline_join(Trainer *trainer, Pipeline *pipeline) {
    trainer->pipeline = pipeline;
    trainer->forward = forward;
    trainer->backward = backward;
    trainer->model->grad_norm = grad_norm;
    trainer->model->norm_context = &pipeline->pipe;
    if (checkpointed(trainer->model->checkpoint)) {
        segments_set(trainer->model);
    }
}

double pipeline_evaluate(Pipeline *pipeline, Data *data) {
    int count = comm_size(pipeline->comm);
    Batch batch;
    double loss = 0, *all = malloc((size_t)count * sizeof *all);
    CHECK(all != NULL, "no memory for %d ranks", count);
    size_t tokens = 0;
    for (size_t i = 0; data_eval(data, i, &batch); i++) {
        loss += pipe_evaluate(&pipeline->pipe, &batch);
        tokens += (size_t)batch.valid;
    }
    comm_gather(pipeline->comm, &loss, sizeof loss, all);
    loss = all[pipeline->pipe.stages - 1]; /* of replica 0's last stage */
    free(all);
    return tokens > 0 ? loss / (double)tokens : (double)NAN;
}
