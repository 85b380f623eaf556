/* A GPT-2: its parameters, and its own pass. The contract is in model.h; passes are in pass.c, the
   layers in block.c. */
#include "common/model.h"

#include <math.h>
#include <stdlib.h>

#include "common/block.h"

static size_t element_bytes(const Model *model) {
    return precision_bytes(model->config.precision);
}

/* Whether parameter i of a list belongs to this part of the model. */
static bool is_here(const Model *model, const Param *params, int i) {
    const ModelPart *part = &model->part;
    int layer = params[i].layer;
    if (layer >= 0) {
        return part->first <= layer && layer < part->last;
    }
    return (part->embedding && (i == WTE || i == WPE)) || (part->head && i != WPE);
}

static void alloc_weights(Model *model, Param *params, int count) {
    for (int i = 0; i < count && model->part.weights; i++) {
        Param *param = &params[i];
        if (is_here(model, params, i)) {
            param->weight = memory_alloc(model->memory, MEMORY_WEIGHTS, param->name, param->layer,
                                         param->count * element_bytes(model));
        }
    }
}

/* All weights, then the gradients of those that are trained. Gradients are float whatever the
   precision. */
static void alloc_params(Model *model) {
    alloc_weights(model, model->base, model->base_count);
    if (model->base != model->params) {
        alloc_weights(model, model->params, model->param_count);
    }
    for (int i = 0; i < model->param_count && model->part.grads; i++) {
        Param *param = &model->params[i];
        if (is_here(model, model->params, i)) {
            param->grad = memory_alloc_zero(model->memory, MEMORY_GRADIENTS, param->name,
                                            param->layer, param->count * sizeof(float));
        }
    }
}

/* Scratch memory, the list of gradients, the places for single results and for the gradients that
   nobody reads. The other lists are the
   optimizer's. */
static void alloc_workspace(Model *model) {
    size_t list = workspace_list_bytes(&model->config);
    size_t bytes = workspace_bytes(&model->config, model->device) - (WORKSPACE_LISTS - 1) * list;
    size_t unread = workspace_unread_bytes(&model->config);
    size_t scratch = bytes - list - WORKSPACE_RESULT_BYTES - unread;
    char *workspace = memory_alloc(model->memory, MEMORY_WORKSPACE, "workspace", -1, bytes);
    model->workspace = (Workspace){
        .data = workspace,
        .bytes = scratch,
        .threads = model->device->threads,
        .blas = model->device->blas,
    };
    float **grads = calloc((size_t)model->param_count, sizeof *grads);
    CHECK(grads != NULL, "no memory for %d pointers", model->param_count);
    for (int i = 0; i < model->param_count; i++) {
        grads[i] = model->params[i].grad;
    }
    model->grads = model_list(model, grads, workspace + scratch);
    model->result = (float *)(workspace + scratch + list);
    free(grads);
    if (unread > 0) {
        model->unread = (float *)(workspace + bytes - unread);
        device_fill(model->device, model->unread, 0, unread);
    }
}

/* GPT-2's start: normal with deviation 0.02. The two matrices of a block that add to the residual
   stream start smaller, since the stream sums 2 L of them. */
void model_init_weights(Model *model, uint64_t seed) {
    CHECK(model->part.shards == 1 && model->part.vocab_rows == model->config.V,
          "the weights of a shard are cut from those of the whole");
    Rng rng = rng_new(seed, RNG_WEIGHTS);
    for (int i = 0; i < model->base_count; i++) {
        Param *param = &model->base[i];
        float *values = malloc(param->count * sizeof *values);
        CHECK(values != NULL, "no host memory for %zu weights", param->count);
        float std = 0.02f;
        if (param->init == INIT_RESIDUAL) {
            std /= sqrtf(2.0f * (float)model->config.L);
        }
        if (param->init == INIT_NORMAL || param->init == INIT_RESIDUAL) {
            rng_normal(&rng, values, param->count, std);
        } else {
            for (size_t j = 0; j < param->count; j++) {
                values[j] = param->init == INIT_ONE ? 1 : 0;
            }
        }
        if (param->weight != NULL ||
            model->pieces != NULL) { /* numbers are drawn for all, so each part has its own */
            model_upload_weight(model, param, values);
        }
        free(values);
    }
}

static Param *params_new(int count) {
    Param *params = calloc((size_t)count, sizeof *params);
    CHECK(params != NULL, "no memory for %d parameters", count);
    return params;
}

/* The GPT-2's parameters, and those of adapters, in whose favour the former are frozen. */
static void describe_params(Model *model) {
    const ModelConfig *config = &model->config;
    model->param_count = model->base_count = params_count(config);
    model->params = model->base = params_new(model->base_count);
    params_describe_shard(model->base, config, model->part.shards);
    if (config->adapter.rank > 0) {
        char error[ERROR_BYTES];
        CHECK(adapter_check(&config->adapter, error) == 0, "%s", error);
        CHECK(model->part.shards == 1, "an adapter beside a shard of a matrix");
        for (int i = 0; i < model->base_count; i++) {
            model->base[i].frozen = true;
        }
        model->param_count = adapters_count(config);
        model->params = params_new(model->param_count);
        adapters_describe(model->params, config);
    }
}

/* All but the numbers of the weights. */
static Model *model_outline(const ModelConfig *config, const ModelPart *part, Memory *memory,
                            uint64_t seed) {
    char error[ERROR_BYTES];
    CHECK(config_check(config, error) == 0, "%s", error);
    CHECK(0 <= part->first && part->first <= part->last && part->last <= config->L,
          "blocks %d to %d, the model has %d", part->first, part->last, config->L);
    CHECK(0 <= part->shard && part->shard < part->shards, "shard %d of %d", part->shard,
          part->shards);
    CHECK(0 <= part->vocab_first && 1 <= part->vocab_rows &&
              part->vocab_rows <= config->V - part->vocab_first,
          "rows %d to %d of a vocabulary of %d", part->vocab_first,
          part->vocab_first + part->vocab_rows, config->V);
    Model *model = calloc(1, sizeof *model);
    CHECK(model != NULL, "no memory for a model's outline");
    model->config = *config;
    model->part = *part;
    model->memory = memory;
    model->device = memory_device(memory);
    model->ops = &model->device->ops[config->precision];
    model->rng = rng_new(seed, RNG_DROPOUT);
    describe_params(model);
    Param *wte = &model->base[WTE];
    wte->rows = part->vocab_rows;
    wte->count = (size_t)wte->rows * (size_t)wte->cols;
    model->pass = pass_new(model, memory, &model->rng);
    alloc_params(model);
    alloc_workspace(model);
    return model;
}

ModelPart model_whole(const ModelConfig *config) {
    return (ModelPart){.first = 0,
                       .last = config->L,
                       .embedding = true,
                       .head = true,
                       .shards = 1,
                       .vocab_rows = config->V,
                       .weights = true,
                       .grads = true};
}

static void zero_weights(const Model *model, const Param *params, int count) {
    for (int i = 0; i < count; i++) {
        if (params[i].weight != NULL) {
            device_fill(model->device, params[i].weight, 0, params[i].count * element_bytes(model));
        }
    }
}

Model *model_new(const ModelConfig *config, Memory *memory, uint64_t seed) {
    ModelPart whole = model_whole(config);
    Model *model = model_outline(config, &whole, memory, seed);
    model_init_weights(model, seed);
    if (model->params != model->base) {
        zero_weights(model, model->params, model->param_count);
    }
    return model;
}

Model *model_new_part(const ModelConfig *config, const ModelPart *part, Memory *memory,
                      uint64_t seed) {
    Model *model = model_outline(config, part, memory, seed);
    zero_weights(model, model->base, model->base_count);
    if (model->params != model->base) {
        zero_weights(model, model->params, model->param_count);
    }
    return model;
}

Model *model_new_zero(const ModelConfig *config, Memory *memory) {
    ModelPart whole = model_whole(config);
    return model_new_part(config, &whole, memory, 0);
}

/* The parameters of a block, or those outside of blocks, and how many. */
static Param *params_of(Model *model, int layer, int *count) {
    CHECK(-1 <= layer && layer < model->config.L, "block %d of %d", layer, model->config.L);
    *count = layer < 0 ? MODEL_PARAMS : BLOCK_PARAMS;
    return layer < 0 ? model->base : model_block_params(model, layer);
}

Param *model_adapter(const Model *model, int layer, LinearId id) {
    const Adapter *adapter = &model->config.adapter;
    if (adapter->rank == 0 || !(adapter->targets >> id & 1)) {
        return NULL;
    }
    int before = 0; /* targets of the block that come first */
    for (int other = 0; other < (int)id; other++) {
        before += adapter->targets >> other & 1;
    }
    int in_block = model->param_count / model->config.L;
    return model->params + (size_t)layer * (size_t)in_block + 2 * (size_t)before;
}

void model_put_weights(Model *model, int layer, Real *const *weights) {
    int count;
    Param *params = params_of(model, layer, &count);
    CHECK(!model->part.weights, "the model has weights of its own");
    for (int i = 0; i < count; i++) {
        params[i].weight = weights != NULL ? weights[i] : NULL;
    }
}

void model_put_grads(Model *model, int layer, float *const *grads) {
    int count;
    Param *params = params_of(model, layer, &count);
    CHECK(!model->part.grads, "the model has gradients of its own");
    for (int i = 0; i < count; i++) {
        params[i].grad = grads != NULL ? grads[i] : NULL;
    }
}

TensorList model_list(const Model *model, float *const *data, void *entry) {
    int count = model->param_count;
    TensorEntry *entries = calloc((size_t)count, sizeof *entries);
    CHECK(entries != NULL, "no memory for a list of %d tensors", count);
    size_t elements = 0;
    for (int i = 0; i < count; i++) {
        const Param *param = &model->params[i];
        entries[i].data = data[i];
        entries[i].n = data[i] != NULL ? param->count : 0;
        entries[i].decays = param_is_matrix(param);
        elements += entries[i].n;
    }
    size_t length = model->places != NULL ? model->length : tensors_index(entries, count);
    for (int i = 0; i < count && model->places != NULL; i++) {
        entries[i].first = model->places[i];
    }
    TensorList list = {entry, count, elements, length};
    device_upload(model->device, entry, entries, (size_t)count * sizeof *entries);
    free(entries);
    return list;
}

void model_free(Model *model) {
    if (model == NULL) {
        return;
    }
    if (model->base != model->params) {
        free(model->base);
    }
    free(model->params);
    pass_free(&model->pass);
    free(model);
}

size_t model_param_elements(const Model *model) {
    size_t count = 0;
    for (int i = 0; i < model->param_count; i++) {
        count += model->params[i].count;
    }
    return count;
}

/* Weights in half pass through the workspace as floats, a piece at a time:
   the device has the cast. */
static size_t piece_elements(const Model *model) {
    return model->workspace.bytes / sizeof(float);
}

static Real *weight_at(const Model *model, const Param *param, size_t first) {
    return (Real *)((char *)param_weight(param) + first * element_bytes(model));
}

void model_download_weight(const Model *model, const Param *param, float *to) {
    if (model->config.precision == F32) {
        device_download(model->device, to, param_weight(param), param->count * sizeof(float));
        return;
    }
    for (size_t first = 0; first < param->count; first += piece_elements(model)) {
        size_t left = param->count - first;
        size_t count = left < piece_elements(model) ? left : piece_elements(model);
        model->ops->cast_to_float(model->workspace.data, weight_at(model, param, first), count);
        device_download(model->device, to + first, model->workspace.data, count * sizeof(float));
    }
}

void model_upload_weight(Model *model, Param *param, const float *from) {
    if (param->weight == NULL && model->pieces != NULL) {
        Param *piece = &model->pieces->params[param - model->params];
        model_upload_weight(model->pieces, piece, from + piece->first);
        return;
    }
    if (model->config.precision == F32) {
        device_upload(model->device, param_weight(param), from, param->count * sizeof(float));
        return;
    }
    for (size_t first = 0; first < param->count; first += piece_elements(model)) {
        size_t left = param->count - first;
        size_t count = left < piece_elements(model) ? left : piece_elements(model);
        device_upload(model->device, model->workspace.data, from + first, count * sizeof(float));
        model->ops->cast_from_float(weight_at(model, param, first), model->workspace.data, count);
    }
}

float *model_norm_grad(const Model *model, const Param *param) {
    if (param->frozen) {
        return param->init == INIT_ONE ? model->unread : model->unread + model->config.C;
    }
    return param_grad(param);
}

void model_zero_grad(Model *model) {
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        if (param->grad != NULL) {
            device_fill(model->device, param->grad, 0, param->count * sizeof(float));
        }
    }
}

void model_scale_grad(Model *model, float factor) {
    model->ops->scale(model->grads, factor);
}

float model_grad_norm(Model *model) {
    if (model->grad_norm != NULL) {
        return model->grad_norm(model);
    }
    float sum;
    device_fill(model->device, model->result, 0, sizeof sum);
    /* sum over all parameters and elements of grad^2, in one number on the device */
    model->ops->sumsq(model->result, model->grads, &model->workspace);
    device_download(model->device, &sum, model->result, sizeof sum);
    return sqrtf(sum);
}

/* ---- the model's own pass, under the names that labs know ------------------------------------ */

void model_begin(Model *model, const Batch *batch, bool train) {
    pass_begin(&model->pass, batch, train);
}

void model_end(Model *model) {
    pass_end(&model->pass);
}

double model_forward(Model *model, const Batch *batch) {
    return pass_forward(&model->pass, batch);
}

void model_backward(Model *model, float dloss) {
    pass_backward(&model->pass, dloss);
}

double model_evaluate(Model *model, const Batch *batch) {
    return pass_evaluate(&model->pass, batch);
}

void model_next_logits(Model *model, const Batch *batch, float *logits) {
    pass_next_logits(&model->pass, batch, logits);
}

Real *model_embed(Model *model) {
    return pass_embed(&model->pass);
}

Real *model_boundary(Model *model, int layer) {
    return pass_boundary(&model->pass, layer);
}

Dropout model_draw_dropout(Model *model, size_t n) {
    return pass_draw_dropout(&model->pass, n);
}

double model_head_forward(Model *model, const Real *x) {
    return pass_head_forward(&model->pass, x);
}

void model_head_backward(Model *model, const Real *x, float dloss) {
    pass_head_backward(&model->pass, x, dloss);
}

void model_embed_backward(Model *model) {
    pass_embed_backward(&model->pass);
}
