/* A pass over one micro-batch. The contract is in pass.h, the layers are in block.c; every tensor
   comes from the pass's memory and is released in the opposite order. */
#include "common/pass.h"

#include <stdlib.h>

#include "common/block.h"

Pass pass_new(Model *model, Memory *memory, Rng *rng) {
    size_t L = (size_t)model->config.L;
    Pass pass = {.model = model, .memory = memory, .rng = rng != NULL ? rng : &model->rng};
    pass.x = calloc(L + 1, sizeof *pass.x);
    pass.blocks = calloc(L, sizeof *pass.blocks);
    pass.marks = calloc(L, sizeof *pass.marks);
    pass.rngs = calloc(L, sizeof *pass.rngs);
    CHECK(pass.x && pass.blocks && pass.marks && pass.rngs, "no memory for %zu layers", L);
    return pass;
}

void pass_free(Pass *pass) {
    free(pass->x);
    free(pass->blocks);
    free(pass->marks);
    free(pass->rngs);
}

static size_t element_bytes(const Pass *pass) {
    return precision_bytes(pass->model->config.precision);
}

/* Numbers of the residual stream. */
static size_t stream_elements(const Pass *pass) {
    return (size_t)pass->B * (size_t)pass->T * (size_t)pass->model->config.C;
}

/* A tensor with one row per token of the pass. */
static void *pass_alloc(Pass *pass, MemoryKind kind, const char *name, int layer,
                        size_t bytes_per_token) {
    size_t N = (size_t)pass->B * (size_t)pass->T;
    return memory_alloc(pass->memory, kind, name, layer, N * bytes_per_token);
}

/* Tokens or targets, on the device; NULL where the batch has none. */
static const int32_t *take_ids(Pass *pass, const char *name, const int32_t *ids, bool on_device) {
    if (ids == NULL || on_device) {
        return ids;
    }
    int32_t *taken = pass_alloc(pass, MEMORY_DATA, name, -1, sizeof *ids);
    device_upload(pass->model->device, taken, ids, (size_t)pass->B * (size_t)pass->T * sizeof *ids);
    return taken;
}

void pass_begin(Pass *pass, const Batch *batch, bool train) {
    Model *model = pass->model;
    CHECK(!pass->active, "the previous pass has not ended");
    CHECK(batch->B >= 1 && batch->T >= 1 && batch->T <= model->config.T,
          "batch of (%d, %d), the model has %d positions", batch->B, batch->T, model->config.T);
    CHECK((size_t)batch->B * (size_t)batch->T <= INT32_MAX, "batch of (%d, %d)", batch->B,
          batch->T);
    size_t row = (size_t)model->config.C * element_bytes(pass);
    pass->active = true;
    pass->before = model->newest;
    model->newest = pass;
    pass->train = train;
    pass->B = batch->B;
    pass->T = batch->T;
    pass->mark = memory_mark(pass->memory);
    pass->tokens = take_ids(pass, "tokens", batch->tokens, batch->on_device);
    pass->targets = take_ids(pass, "targets", batch->targets, batch->on_device);
    pass->dx = pass->gradient;
    if (train && pass->gradient == NULL) {
        pass->dx = pass_alloc(pass, MEMORY_ACTIVATIONS, "residual.dx", -1, row);
    }
}

/* The place that points to this pass, which is in flight. */
static Pass **link_to(Pass *pass) {
    CHECK(pass->active, "no pass is in flight");
    Pass **link = &pass->model->newest;
    for (; *link != pass; link = &(*link)->before) {
        CHECK((*link)->memory != pass->memory,
              "a pass that began later lies above this one on the same stack: each needs a lane");
    }
    return link;
}

void pass_end(Pass *pass) {
    *link_to(pass) = pass->before;
    memory_release(pass->memory, pass->mark);
    pass->active = false;
}

void pass_enter(const Pass *pass, int layer, bool backward) {
    if (pass->model->enter != NULL) {
        pass->model->enter(pass->model->parts_context, layer, backward);
    }
}

void pass_leave(const Pass *pass, int layer, bool backward) {
    if (pass->model->leave != NULL) {
        pass->model->leave(pass->model->parts_context, layer, backward);
    }
}

Dropout pass_draw_dropout(Pass *pass, size_t n) {
    return pass_draw_mask(pass, n, pass->model->config.dropout);
}

Dropout pass_draw_mask(Pass *pass, size_t n, float p) {
    Dropout dropout = {0};
    if (pass->train && p > 0) {
        /* with seed and offset, backward and a second run can draw the mask again */
        dropout.p = p;
        dropout.seed = pass->rng->seed;
        dropout.offset = rng_take(pass->rng, dropout_counters(n));
        dropout.base = pass->model->dropout_base;
    }
    return dropout;
}

void pass_skip_masks(Pass *pass, int masks) {
    for (int i = 0; i < masks; i++) {
        pass_draw_dropout(pass, stream_elements(pass));
    }
}

/* The kit's embedding and head read rows of the whole vocabulary. */
static void expect_vocabulary(const Model *model) {
    CHECK(model->part.vocab_rows == model->config.V,
          "%d of %d rows of \"wte.weight\" are here: set model->embed_forward and head_forward",
          model->part.vocab_rows, model->config.V);
}

static Real *embed(Pass *pass) {
    const Model *model = pass->model;
    int C = model->config.C;
    size_t n = stream_elements(pass);
    CHECK(pass->tokens != NULL, "the embedding needs tokens, and the batch of this pass has none");
    Real *x =
        pass_alloc(pass, MEMORY_ACTIVATIONS, "embedding", -1, (size_t)C * element_bytes(pass));
    /* x[0] = dropout(wte[token] + wpe[position]) */
    if (model->embed_forward != NULL) {
        model->embed_forward(pass, x);
    } else {
        expect_vocabulary(model);
        model->ops->embedding_forward(x, pass->tokens, param_weight(&model->base[WTE]),
                                      param_weight(&model->base[WPE]), pass->B, pass->T, C);
    }
    pass->embedding_dropout = pass_draw_dropout(pass, n);
    if (pass->embedding_dropout.p > 0) {
        model->ops->dropout_forward(x, x, n, pass->embedding_dropout);
    }
    return x;
}

Real *pass_embed(Pass *pass) {
    if (pass->input != NULL) {
        return pass->input;
    }
    pass_enter(pass, -1, false);
    Real *x = embed(pass);
    pass_leave(pass, -1, false);
    return x;
}

static void embed_backward(Pass *pass) {
    const Model *model = pass->model;
    size_t n = stream_elements(pass);
    if (model->base[WTE].frozen) {
        return; /* there is nobody below that learns */
    }
    if (pass->embedding_dropout.p > 0) {
        model->ops->dropout_backward(pass->dx, pass->dx, n, pass->embedding_dropout);
    }
    if (model->embed_backward != NULL) {
        model->embed_backward(pass);
        return;
    }
    /* the second half of dwte, and dwpe */
    model->ops->embedding_backward(param_grad(&model->base[WTE]), param_grad(&model->base[WPE]),
                                   pass->dx, pass->tokens, pass->B, pass->T, model->config.C,
                                   model->config.V, &model->workspace);
}

void pass_embed_backward(Pass *pass) {
    if (pass->input != NULL) {
        return;
    }
    pass_enter(pass, -1, true);
    embed_backward(pass);
    pass_leave(pass, -1, true);
}

Real *pass_boundary(Pass *pass, int layer) {
    return pass_alloc(pass, MEMORY_ACTIVATIONS, "residual.out", layer,
                      (size_t)pass->model->config.C * element_bytes(pass));
}

/* Here the host waits for the device. The sum is in double, in the order of the tokens. */
double pass_losses(Pass *pass) {
    const Model *model = pass->model;
    if (model->take_losses != NULL) {
        model->take_losses(model->losses_context, pass);
        return 0;
    }
    size_t N = (size_t)pass->B * (size_t)pass->T;
    float *losses = malloc(N * sizeof *losses);
    CHECK(losses != NULL, "no host memory for %zu losses", N);
    device_download(model->device, losses, pass->head.losses, N * sizeof *losses);
    double sum = 0;
    for (size_t i = 0; i < N; i++) {
        sum += (double)losses[i];
    }
    free(losses);
    return sum;
}

static double head_forward(Pass *pass, const Real *x) {
    const Model *model = pass->model;
    const Param *params = model->base;
    Head *head = &pass->head;
    int C = model->config.C, V = model->config.V, N = pass->B * pass->T;
    int stride = logits_stride(V);
    size_t element = element_bytes(pass);
    expect_vocabulary(model);
    head->mark = memory_mark(pass->memory);
    head->lnf = pass_alloc(pass, MEMORY_ACTIVATIONS, "lnf.out", -1, (size_t)C * element);
    head->mean = pass_alloc(pass, MEMORY_ACTIVATIONS, "lnf.mean", -1, sizeof(float));
    head->rstd = pass_alloc(pass, MEMORY_ACTIVATIONS, "lnf.rstd", -1, sizeof(float));
    head->logits = pass_alloc(pass, MEMORY_ACTIVATIONS, "logits", -1, (size_t)stride * element);
    head->losses = pass_alloc(pass, MEMORY_ACTIVATIONS, "losses", -1, sizeof(float));
    head->lse = pass_alloc(pass, MEMORY_ACTIVATIONS, "losses.lse", -1, sizeof(float));
    /* logits = ln_f(x) wte^T: the head shares the embedding's weight */
    model->ops->layernorm_forward(head->lnf, head->mean, head->rstd, x,
                                  param_weight(&params[LNF_WEIGHT]),
                                  param_weight(&params[LNF_BIAS]), N, C);
    model->ops->matmul_forward(head->logits, head->lnf, param_weight(&params[WTE]), NULL, N, C, V,
                               stride, &model->workspace);
    /* losses = -log softmax(logits)[target], 0 where ignored */
    model->ops->crossentropy_forward(head->losses, head->lse, head->logits, pass->targets, N, V,
                                     stride);
    return pass_losses(pass);
}

double pass_head_forward(Pass *pass, const Real *x) {
    const Model *model = pass->model;
    if (pass->input != NULL) {
        return pass->loss = 0;
    }
    CHECK(x != NULL, "the head needs the output of the last block, which is NULL");
    CHECK(pass->targets != NULL, "the head needs targets, and the batch of this pass has none");
    pass_enter(pass, model->config.L, false);
    pass->loss = model->head_forward != NULL ? model->head_forward(pass, x) : head_forward(pass, x);
    pass_leave(pass, model->config.L, false);
    return pass->loss;
}

static void head_backward(Pass *pass, const Real *x, float dloss) {
    const Model *model = pass->model;
    const Param *params = model->base;
    Head *head = &pass->head;
    int C = model->config.C, V = model->config.V, N = pass->B * pass->T;
    int stride = logits_stride(V);
    size_t bytes = stream_elements(pass) * element_bytes(pass);
    Real *dlnf =
        pass_alloc(pass, MEMORY_ACTIVATIONS, "lnf.dout", -1, (size_t)C * element_bytes(pass));
    /* dlogits = dloss * (softmax(logits) - one_hot(target)), in place of the logits */
    model->ops->crossentropy_backward(head->logits, head->logits, head->lse, pass->targets, dloss,
                                      N, V, stride);
    /* dlnf = dlogits wte, dwte += dlogits^T lnf: the first half of the shared weight's gradient */
    model->ops->matmul_backward_first(dlnf, param_grad(&params[WTE]), NULL, head->logits, head->lnf,
                                      param_weight(&params[WTE]), N, C, V, stride,
                                      &model->workspace);
    device_fill(model->device, pass->dx, 0, bytes);
    /* dx = the gradient through ln_f, the start of the residual stream's gradient */
    model->ops->layernorm_backward(pass->dx, model_norm_grad(model, &params[LNF_WEIGHT]),
                                   model_norm_grad(model, &params[LNF_BIAS]), dlnf, x, head->mean,
                                   head->rstd, param_weight(&params[LNF_WEIGHT]), N, C,
                                   &model->workspace);
    memory_release(pass->memory, head->mark);
}

void pass_head_backward(Pass *pass, const Real *x, float dloss) {
    CHECK(pass->train, "a pass without `train` has no backward");
    link_to(pass);
    int L = pass->model->config.L;
    if (pass->input != NULL) {
        return;
    }
    pass_enter(pass, L, true);
    if (pass->model->head_backward != NULL) {
        pass->model->head_backward(pass, x, dloss);
    } else {
        head_backward(pass, x, dloss);
    }
    pass_leave(pass, L, true);
}

static void check_range(Pass *pass, int first, int last) {
    link_to(pass);
    CHECK(0 <= first && first <= last && last <= pass->model->config.L,
          "blocks %d to %d, the model has %d", first, last, pass->model->config.L);
}

/* Nothing of a block outlives it: its output takes the place of its input. */
static Real *look_through(Pass *pass, int first, int last, Real *x) {
    for (int layer = first; layer < last; layer++) {
        MemoryMark mark = memory_mark(pass->memory);
        Block block = pass_block_alloc(pass, layer);
        pass_block_forward(pass, layer, x, x, &block);
        memory_release(pass->memory, mark);
    }
    return x;
}

Real *model_forward_blocks(Pass *pass, int first, int last, Real *x) {
    check_range(pass, first, last);
    if (!pass->train) {
        return look_through(pass, first, last, x);
    }
    if (pass->model->forward_blocks != NULL) {
        return pass->model->forward_blocks(pass, first, last, x);
    }
    pass->x[first] = x;
    /* x[l + 1] = block l of x[l]; everything stays on the stack for backward */
    for (int layer = first; layer < last; layer++) {
        pass->marks[layer] = memory_mark(pass->memory);
        pass->x[layer + 1] = pass_boundary(pass, layer);
        pass->blocks[layer] = pass_block_alloc(pass, layer);
        pass_block_forward(pass, layer, pass->x[layer + 1], pass->x[layer], &pass->blocks[layer]);
    }
    return pass->x[last];
}

void model_backward_blocks(Pass *pass, int first, int last, Real *dx) {
    check_range(pass, first, last);
    CHECK(pass->train, "a pass without `train` has no backward");
    if (pass->model->backward_blocks != NULL) {
        pass->model->backward_blocks(pass, first, last, dx);
        return;
    }
    /* from the last block to the first, each released as soon as its gradients are added */
    for (int layer = last - 1; layer >= first; layer--) {
        pass_block_backward(pass, layer, dx, pass->x[layer], &pass->blocks[layer]);
        memory_release(pass->memory, pass->marks[layer]);
    }
}

double pass_forward(Pass *pass, const Batch *batch) {
    pass_begin(pass, batch, true);
    Real *x = model_forward_blocks(pass, 0, pass->model->config.L, pass_embed(pass));
    return pass_head_forward(pass, x);
}

void pass_backward(Pass *pass, float dloss) {
    int L = pass->model->config.L;
    CHECK(pass->active && pass->train, "a backward comes after its forward");
    pass_head_backward(pass, pass->x[L], dloss);
    model_backward_blocks(pass, 0, L, pass->dx);
    pass_embed_backward(pass);
    pass_end(pass);
}

/* Forward of the blocks with nothing kept; the pass is left open. */
static Real *look(Pass *pass, const Batch *batch) {
    pass_begin(pass, batch, false);
    return model_forward_blocks(pass, 0, pass->model->config.L, pass_embed(pass));
}

double pass_evaluate(Pass *pass, const Batch *batch) {
    pass_head_forward(pass, look(pass, batch));
    pass_end(pass);
    return pass->loss;
}

void pass_next_logits(Pass *pass, const Batch *batch, float *logits) {
    const Model *model = pass->model;
    Real *x = look(pass, batch);
    pass_enter(pass, model->config.L, false);
    pass->loss = head_forward(pass, x); /* a head of its own may keep no logits */
    pass_leave(pass, model->config.L, false);
    size_t V = (size_t)model->config.V, T = (size_t)batch->T;
    size_t stride = (size_t)logits_stride(model->config.V);
    float *row =
        memory_alloc(pass->memory, MEMORY_WORKSPACE, "logits.float", -1, V * sizeof(float));
    for (int b = 0; b < batch->B; b++) {
        size_t last = ((size_t)b * T + T - 1) * stride * element_bytes(pass);
        const Real *from = (const Real *)((const char *)pass->head.logits + last);
        if (model->config.precision != F32) {
            model->ops->cast_to_float(row, from, V);
        }
        device_download(model->device, logits + (size_t)b * V,
                        model->config.precision == F32 ? (const float *)from : row,
                        V * sizeof(float));
    }
    pass_end(pass);
}
