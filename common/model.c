/* A GPT-2: its parameters, and a pass over one micro-batch. The contract is in model.h, the layers
   are in block.c; every tensor comes from memory.h and is released in the opposite order. */
#include "common/model.h"

#include <math.h>
#include <stdlib.h>

#include "common/block.h"

static size_t element_bytes(const Model *model) {
    return precision_bytes(model->config.precision);
}

/* All weights, then all gradients. Gradients are float whatever the precision. */
static void alloc_params(Model *model) {
    for (int i = 0; i < model->param_count; i++) {
        Param *param = &model->params[i];
        param->weight = memory_alloc(model->memory, MEMORY_WEIGHTS, param->name, param->layer,
                                     param->count * element_bytes(model));
    }
    for (int i = 0; i < model->param_count; i++) {
        Param *param = &model->params[i];
        param->grad = memory_alloc_zero(model->memory, MEMORY_GRADIENTS, param->name, param->layer,
                                        param->count * sizeof(float));
    }
}

/* Scratch memory, the list of gradients, and the place for single results. The other lists are the
   optimizer's. */
static void alloc_workspace(Model *model) {
    size_t list = workspace_list_bytes(&model->config);
    size_t bytes = workspace_bytes(&model->config, model->device) - (WORKSPACE_LISTS - 1) * list;
    size_t scratch = bytes - list - WORKSPACE_RESULT_BYTES;
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
}

/* GPT-2's start: normal with deviation 0.02. The two matrices of a block that add to the residual
   stream start smaller, since the stream sums 2 L of them. */
static void init_weights(Model *model, uint64_t seed) {
    Rng rng = rng_new(seed, RNG_WEIGHTS);
    for (int i = 0; i < model->param_count; i++) {
        Param *param = &model->params[i];
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
        model_upload_weight(model, param, values);
        free(values);
    }
}

/* All but the numbers of the weights. */
static Model *model_outline(const ModelConfig *config, Memory *memory, uint64_t seed) {
    char error[ERROR_BYTES];
    CHECK(config_check(config, error) == 0, "%s", error);
    Model *model = calloc(1, sizeof *model);
    CHECK(model != NULL, "no memory for a model's outline");
    model->config = *config;
    model->memory = memory;
    model->device = memory_device(memory);
    model->ops = &model->device->ops[config->precision];
    model->rng = rng_new(seed, RNG_DROPOUT);
    model->param_count = params_count(config);
    model->params = calloc((size_t)model->param_count, sizeof *model->params);
    model->pass.x = calloc((size_t)config->L + 1, sizeof *model->pass.x);
    model->pass.blocks = calloc((size_t)config->L, sizeof *model->pass.blocks);
    model->pass.marks = calloc((size_t)config->L, sizeof *model->pass.marks);
    model->pass.rngs = calloc((size_t)config->L, sizeof *model->pass.rngs);
    CHECK(model->params && model->pass.x && model->pass.blocks && model->pass.marks &&
              model->pass.rngs,
          "no memory for %d layers", config->L);
    params_describe(model->params, config);
    alloc_params(model);
    alloc_workspace(model);
    return model;
}

Model *model_new(const ModelConfig *config, Memory *memory, uint64_t seed) {
    Model *model = model_outline(config, memory, seed);
    init_weights(model, seed);
    return model;
}

Model *model_new_zero(const ModelConfig *config, Memory *memory) {
    Model *model = model_outline(config, memory, 0);
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        device_fill(model->device, param->weight, 0, param->count * element_bytes(model));
    }
    return model;
}

TensorList model_list(const Model *model, float *const *data, void *entry) {
    int count = model->param_count;
    TensorEntry *entries = calloc((size_t)count, sizeof *entries);
    CHECK(entries != NULL, "no memory for a list of %d tensors", count);
    for (int i = 0; i < count; i++) {
        const Param *param = &model->params[i];
        entries[i].data = data[i];
        entries[i].n = param->count;
        entries[i].decays = param_is_matrix(param);
    }
    TensorList list = {entry, count, model_param_elements(model), tensors_index(entries, count)};
    device_upload(model->device, entry, entries, (size_t)count * sizeof *entries);
    free(entries);
    return list;
}

void model_free(Model *model) {
    if (model == NULL) {
        return;
    }
    free(model->params);
    free(model->pass.x);
    free(model->pass.blocks);
    free(model->pass.marks);
    free(model->pass.rngs);
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
    return (Real *)((char *)param->weight + first * element_bytes(model));
}

void model_download_weight(const Model *model, const Param *param, float *to) {
    if (model->config.precision == F32) {
        device_download(model->device, to, param->weight, param->count * sizeof(float));
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
    if (model->config.precision == F32) {
        device_upload(model->device, param->weight, from, param->count * sizeof(float));
        return;
    }
    for (size_t first = 0; first < param->count; first += piece_elements(model)) {
        size_t left = param->count - first;
        size_t count = left < piece_elements(model) ? left : piece_elements(model);
        device_upload(model->device, model->workspace.data, from + first, count * sizeof(float));
        model->ops->cast_from_float(weight_at(model, param, first), model->workspace.data, count);
    }
}

void model_zero_grad(Model *model) {
    for (int i = 0; i < model->param_count; i++) {
        const Param *param = &model->params[i];
        device_fill(model->device, param->grad, 0, param->count * sizeof(float));
    }
}

void model_scale_grad(Model *model, float factor) {
    model->ops->scale(model->grads, factor);
}

float model_grad_norm(Model *model) {
    float sum;
    device_fill(model->device, model->result, 0, sizeof sum);
    /* sum over all parameters and elements of grad^2, in one number on the device */
    model->ops->sumsq(model->result, model->grads, &model->workspace);
    device_download(model->device, &sum, model->result, sizeof sum);
    return sqrtf(sum);
}

/* A tensor with one row per token of the pass. */
static void *pass_alloc(Model *model, MemoryKind kind, const char *name, int layer,
                        size_t bytes_per_token) {
    size_t N = (size_t)model->pass.B * (size_t)model->pass.T;
    return memory_alloc(model->memory, kind, name, layer, N * bytes_per_token);
}

void model_begin(Model *model, const Batch *batch, bool train) {
    CHECK(!model->pass.active, "the previous pass has not ended");
    CHECK(batch->B >= 1 && batch->T >= 1 && batch->T <= model->config.T,
          "batch of (%d, %d), the model has %d positions", batch->B, batch->T, model->config.T);
    CHECK((size_t)batch->B * (size_t)batch->T <= INT32_MAX, "batch of (%d, %d)", batch->B,
          batch->T);
    Pass *pass = &model->pass;
    size_t row = (size_t)model->config.C * element_bytes(model);
    size_t ids = (size_t)batch->B * (size_t)batch->T * sizeof(int32_t);
    pass->active = true;
    pass->train = train;
    pass->B = batch->B;
    pass->T = batch->T;
    pass->mark = memory_mark(model->memory);
    pass->tokens = pass_alloc(model, MEMORY_DATA, "tokens", -1, sizeof(int32_t));
    pass->targets = pass_alloc(model, MEMORY_DATA, "targets", -1, sizeof(int32_t));
    device_upload(model->device, pass->tokens, batch->tokens, ids);
    device_upload(model->device, pass->targets, batch->targets, ids);
    pass->dx = train ? pass_alloc(model, MEMORY_ACTIVATIONS, "residual.dx", -1, row) : NULL;
}

Dropout model_draw_dropout(Model *model, size_t n) {
    Dropout dropout = {0};
    if (model->pass.train && model->config.dropout > 0) {
        /* with seed and offset, backward and a second run can draw the mask again */
        dropout.p = model->config.dropout;
        dropout.seed = model->rng.seed;
        dropout.offset = rng_take(&model->rng, dropout_counters(n));
    }
    return dropout;
}

Real *model_embed(Model *model) {
    Pass *pass = &model->pass;
    int C = model->config.C;
    size_t n = (size_t)pass->B * (size_t)pass->T * (size_t)C;
    Real *x =
        pass_alloc(model, MEMORY_ACTIVATIONS, "embedding", -1, (size_t)C * element_bytes(model));
    /* x[0] = dropout(wte[token] + wpe[position]) */
    model->ops->embedding_forward(x, pass->tokens, model->params[WTE].weight,
                                  model->params[WPE].weight, pass->B, pass->T, C);
    pass->embedding_dropout = model_draw_dropout(model, n);
    if (pass->embedding_dropout.p > 0) {
        model->ops->dropout_forward(x, x, n, pass->embedding_dropout);
    }
    return x;
}

Real *model_boundary(Model *model, int layer) {
    return pass_alloc(model, MEMORY_ACTIVATIONS, "residual.out", layer,
                      (size_t)model->config.C * element_bytes(model));
}

/* Here the host waits for the device. The sum is in double, in the order of the tokens. */
static double sum_of_losses(Model *model) {
    size_t N = (size_t)model->pass.B * (size_t)model->pass.T;
    float *losses = malloc(N * sizeof *losses);
    CHECK(losses != NULL, "no host memory for %zu losses", N);
    device_download(model->device, losses, model->pass.head.losses, N * sizeof *losses);
    double sum = 0;
    for (size_t i = 0; i < N; i++) {
        sum += (double)losses[i];
    }
    free(losses);
    return sum;
}

double model_head_forward(Model *model, const Real *x) {
    Pass *pass = &model->pass;
    Head *head = &pass->head;
    const Param *params = model->params;
    int C = model->config.C, V = model->config.V, N = pass->B * pass->T;
    int stride = logits_stride(V);
    size_t element = element_bytes(model);
    CHECK(x != NULL, "the head needs the output of the last block, which is NULL");
    head->mark = memory_mark(model->memory);
    head->lnf = pass_alloc(model, MEMORY_ACTIVATIONS, "lnf.out", -1, (size_t)C * element);
    head->mean = pass_alloc(model, MEMORY_ACTIVATIONS, "lnf.mean", -1, sizeof(float));
    head->rstd = pass_alloc(model, MEMORY_ACTIVATIONS, "lnf.rstd", -1, sizeof(float));
    head->logits = pass_alloc(model, MEMORY_ACTIVATIONS, "logits", -1, (size_t)stride * element);
    head->losses = pass_alloc(model, MEMORY_ACTIVATIONS, "losses", -1, sizeof(float));
    head->lse = pass_alloc(model, MEMORY_ACTIVATIONS, "losses.lse", -1, sizeof(float));
    /* logits = ln_f(x) wte^T: the head shares the embedding's weight */
    model->ops->layernorm_forward(head->lnf, head->mean, head->rstd, x, params[LNF_WEIGHT].weight,
                                  params[LNF_BIAS].weight, N, C);
    model->ops->matmul_forward(head->logits, head->lnf, params[WTE].weight, NULL, N, C, V, stride,
                               &model->workspace);
    /* losses = -log softmax(logits)[target], 0 where ignored */
    model->ops->crossentropy_forward(head->losses, head->lse, head->logits, pass->targets, N, V,
                                     stride);
    pass->loss = sum_of_losses(model);
    return pass->loss;
}

void model_head_backward(Model *model, const Real *x, float dloss) {
    Pass *pass = &model->pass;
    Head *head = &pass->head;
    const Param *params = model->params;
    int C = model->config.C, V = model->config.V, N = pass->B * pass->T;
    int stride = logits_stride(V);
    size_t bytes = (size_t)N * (size_t)C * element_bytes(model);
    CHECK(pass->train, "a pass without `train` has no backward");
    Real *dlnf = memory_alloc_zero(model->memory, MEMORY_ACTIVATIONS, "lnf.dout", -1, bytes);
    /* dlogits = dloss * (softmax(logits) - one_hot(target)), in place of the logits */
    model->ops->crossentropy_backward(head->logits, head->logits, head->lse, pass->targets, dloss,
                                      N, V, stride);
    /* dlnf = dlogits wte, dwte += dlogits^T lnf: the first half of the shared weight's gradient */
    model->ops->matmul_backward(dlnf, params[WTE].grad, NULL, head->logits, head->lnf,
                                params[WTE].weight, N, C, V, stride, &model->workspace);
    device_fill(model->device, pass->dx, 0, bytes);
    /* dx = the gradient through ln_f, the start of the residual stream's gradient */
    model->ops->layernorm_backward(pass->dx, params[LNF_WEIGHT].grad, params[LNF_BIAS].grad, dlnf,
                                   x, head->mean, head->rstd, params[LNF_WEIGHT].weight, N, C,
                                   &model->workspace);
    memory_release(model->memory, head->mark);
}

void model_embed_backward(Model *model) {
    Pass *pass = &model->pass;
    size_t n = (size_t)pass->B * (size_t)pass->T * (size_t)model->config.C;
    if (pass->embedding_dropout.p > 0) {
        model->ops->dropout_backward(pass->dx, pass->dx, n, pass->embedding_dropout);
    }
    /* the second half of dwte, and dwpe */
    model->ops->embedding_backward(model->params[WTE].grad, model->params[WPE].grad, pass->dx,
                                   pass->tokens, pass->B, pass->T, model->config.C, model->config.V,
                                   &model->workspace);
}

void model_end(Model *model) {
    CHECK(model->pass.active, "no pass is in flight");
    memory_release(model->memory, model->pass.mark);
    model->pass.active = false;
}

double model_forward(Model *model, const Batch *batch) {
    Pass *pass = &model->pass;
    int L = model->config.L;
    model_begin(model, batch, true);
    pass->x[0] = model_embed(model);
    /* x[l + 1] = block l of x[l]; everything stays on the stack for backward */
    for (int layer = 0; layer < L; layer++) {
        pass->marks[layer] = memory_mark(model->memory);
        pass->x[layer + 1] = model_boundary(model, layer);
        pass->blocks[layer] = block_alloc(model, layer);
        block_forward(model, layer, pass->x[layer + 1], pass->x[layer], &pass->blocks[layer]);
    }
    return model_head_forward(model, pass->x[L]);
}

void model_backward(Model *model, float dloss) {
    Pass *pass = &model->pass;
    int L = model->config.L;
    CHECK(pass->active && pass->train, "model_backward() comes after model_forward()");
    model_head_backward(model, pass->x[L], dloss);
    /* from the last block to the first, each released as soon as its gradients are added */
    for (int layer = L - 1; layer >= 0; layer--) {
        block_backward(model, layer, pass->dx, pass->x[layer], &pass->blocks[layer]);
        memory_release(model->memory, pass->marks[layer]);
    }
    model_embed_backward(model);
    model_end(model);
}

/* Forward with nothing kept, up to the losses; the pass is left open. */
static void look(Model *model, const Batch *batch) {
    model_begin(model, batch, false);
    Real *x = model_embed(model), *out = model_boundary(model, -1);
    /* two streams that change places: nothing of a block outlives it */
    for (int layer = 0; layer < model->config.L; layer++) {
        MemoryMark mark = memory_mark(model->memory);
        Block block = block_alloc(model, layer);
        block_forward(model, layer, out, x, &block);
        memory_release(model->memory, mark);
        Real *swapped = x;
        x = out;
        out = swapped;
    }
    model_head_forward(model, x);
}

double model_evaluate(Model *model, const Batch *batch) {
    look(model, batch);
    model_end(model);
    return model->pass.loss;
}

void model_next_logits(Model *model, const Batch *batch, float *logits) {
    look(model, batch);
    size_t V = (size_t)model->config.V, T = (size_t)batch->T;
    size_t stride = (size_t)logits_stride(model->config.V);
    float *row =
        memory_alloc(model->memory, MEMORY_WORKSPACE, "logits.float", -1, V * sizeof(float));
    for (int b = 0; b < batch->B; b++) {
        size_t last = ((size_t)b * T + T - 1) * stride * element_bytes(model);
        const Real *from = (const Real *)((const char *)model->pass.head.logits + last);
        if (model->config.precision != F32) {
            model->ops->cast_to_float(row, from, V);
        }
        device_download(model->device, logits + (size_t)b * V,
                        model->config.precision == F32 ? (const float *)from : row,
                        V * sizeof(float));
    }
    model_end(model);
}
