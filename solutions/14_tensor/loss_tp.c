/* Lab 14: embedding, logits and loss where each rank has some rows of the vocabulary. The contract
   is in labs/14_tensor/contract.h. */
#include "common/lab.h"
#include "labs/14_tensor/contract.h"

/* An all-reduce in place; the host goes on when the ops may. */
static void reduce(const Model *model, void *x, size_t n, ncclDataType_t type, ncclRedOp_t op) {
#ifndef STUB
    const TensorGroup *group = tensor_group(model);
    ncclResult_t sent = ncclAllReduce(x, x, n, type, op, group->comm, group->stream);
    CHECK(sent == ncclSuccess, "%s", ncclGetErrorString(sent));
    if (model->device->host_memory) {
        cudaStreamSynchronize(group->stream);
    }
#else
    (void)model, (void)x, (void)n, (void)type, (void)op;
    TODO("task 4: an all-reduce, as in task 2, of any type and operation (about 6 lines)");
#endif
}

/* The sum of activations over the ranks. */
static void sum_stream(const Pass *pass, Real *x) {
    const ModelConfig *config = &pass->model->config;
    size_t n = (size_t)pass->B * (size_t)pass->T * (size_t)config->C;
    reduce(pass->model, x, n, tensor_type(pass->model), ncclSum);
}

/* A tensor with `bytes` for each token of the pass. */
static void *tokens_alloc(Pass *pass, const char *name, size_t bytes) {
    size_t N = (size_t)pass->B * (size_t)pass->T;
    return memory_alloc(pass->memory, MEMORY_ACTIVATIONS, name, -1, N * bytes);
}

static VocabRows rows_here(const Model *model) {
    const TensorGroup *group = tensor_group(model);
    return slice_vocab(model->config.V, group->size, group->rank);
}

/* Which of the tokens or targets are in this rank's rows, and where. */
static int32_t *ids_here(Pass *pass, const char *name, const int32_t *ids) {
    int32_t *here = tokens_alloc(pass, name, sizeof *here);
#ifndef STUB
    VocabRows rows = rows_here(pass->model);
    pass->model->ops->vocab_ids(here, ids, rows.first, rows.count, pass->B * pass->T);
    return here;
#else
    (void)here, (void)ids, (void)rows_here;
    TODO("task 4: ids of the rows that are here (about 3 lines)");
#endif
}

/* ---- embedding ------------------------------------------------------------------------------- */

void tp_embed_forward(Pass *pass, Real *x) {
    const Model *model = pass->model;
    MemoryMark mark = memory_mark(pass->memory);
    const int32_t *here = ids_here(pass, "vocab.tokens", pass->tokens);
#ifndef STUB
    bool first = tensor_group(model)->rank == 0;
    model->ops->embedding_forward(x, here, param_weight(&model->base[WTE]),
                                  first ? param_weight(&model->base[WPE]) : NULL, pass->B, pass->T,
                                  model->config.C);
    sum_stream(pass, x);
#else
    (void)x, (void)model, (void)here, (void)sum_stream;
    TODO("task 4: the rows that are here, the position once, the sum (about 5 lines)");
#endif
    memory_release(pass->memory, mark);
}

void tp_embed_backward(Pass *pass) {
    const Model *model = pass->model;
    MemoryMark mark = memory_mark(pass->memory);
    const int32_t *here = ids_here(pass, "vocab.tokens", pass->tokens);
#ifndef STUB
    model->ops->embedding_backward(param_grad(&model->base[WTE]), param_grad(&model->base[WPE]),
                                   pass->dx, here, pass->B, pass->T, model->config.C,
                                   rows_here(model).count, &model->workspace);
#else
    (void)model, (void)here;
    TODO("task 4: the gradients of the rows that are here, and of the positions (about 3 lines)");
#endif
    memory_release(pass->memory, mark);
}

/* ---- head ------------------------------------------------------------------------------------ */

double tp_head_forward(Pass *pass, const Real *x) {
    const Model *model = pass->model;
    const Param *params = model->base;
    int C = model->config.C, N = pass->B * pass->T, V = rows_here(model).count;
    int stride = logits_stride(V);
    size_t number = precision_bytes(model->config.precision);
    Head *head = &pass->head;
    *head = (Head){.mark = memory_mark(pass->memory)};
    head->lnf = tokens_alloc(pass, "lnf.out", (size_t)C * number);
    head->mean = tokens_alloc(pass, "lnf.mean", sizeof(float));
    head->rstd = tokens_alloc(pass, "lnf.rstd", sizeof(float));
    head->logits = tokens_alloc(pass, "logits", (size_t)stride * number);
    head->losses = tokens_alloc(pass, "losses", sizeof(float));
    head->lse = tokens_alloc(pass, "losses.lse", sizeof(float));
    model->ops->layernorm_forward(head->lnf, head->mean, head->rstd, x,
                                  param_weight(&params[LNF_WEIGHT]),
                                  param_weight(&params[LNF_BIAS]), N, C);
    /* The columns of this rank's rows; what it takes to make one loss of all columns. */
    MemoryMark above = memory_mark(pass->memory);
#ifndef STUB
    const int32_t *targets = ids_here(pass, "vocab.targets", pass->targets);
    float *max = tokens_alloc(pass, "vocab.max", sizeof *max);
    float *sum = tokens_alloc(pass, "vocab.sums", 2 * sizeof *sum), *at_target = sum + N;
    model->ops->matmul_forward(head->logits, head->lnf, param_weight(&params[WTE]), NULL, N, C, V,
                               stride, &model->workspace);
    model->ops->vocab_max(max, head->logits, N, V, stride);
    reduce(model, max, (size_t)N, ncclFloat, ncclMax);
    model->ops->vocab_sum(sum, at_target, head->logits, max, targets, N, V, stride);
    reduce(model, sum, 2 * (size_t)N, ncclFloat, ncclSum);
    model->ops->vocab_loss(head->losses, head->lse, max, sum, at_target, targets, N);
#else
    (void)reduce;
    TODO("task 4: logits, max, sum and the target's logit, losses (about 11 lines)");
#endif
    memory_release(pass->memory, above);
    return pass_losses(pass);
}

void tp_head_backward(Pass *pass, const Real *x, float dloss) {
    const Model *model = pass->model;
    const Param *params = model->base;
    const Head *head = &pass->head;
    int C = model->config.C, N = pass->B * pass->T, V = rows_here(model).count;
    size_t bytes = (size_t)N * (size_t)C * precision_bytes(model->config.precision);
    const int32_t *targets = ids_here(pass, "vocab.targets", pass->targets);
    Real *dlnf = memory_alloc_zero(pass->memory, MEMORY_ACTIVATIONS, "lnf.dout", -1, bytes);
#ifndef STUB
    int stride = logits_stride(V);
    model->ops->vocab_backward(head->logits, head->lse, targets, dloss, N, V, stride);
    model->ops->matmul_backward(dlnf, param_grad(&params[WTE]), NULL, head->logits, head->lnf,
                                param_weight(&params[WTE]), N, C, V, stride, &model->workspace);
    sum_stream(pass, dlnf);
#else
    (void)targets, (void)dloss, (void)V;
    TODO("task 4: the gradient of the logits, of this rank's rows, and of ln_f (about 6 lines)");
#endif
    device_fill(model->device, pass->dx, 0, bytes);
    model->ops->layernorm_backward(pass->dx, model_norm_grad(model, &params[LNF_WEIGHT]),
                                   model_norm_grad(model, &params[LNF_BIAS]), dlnf, x, head->mean,
                                   head->rstd, param_weight(&params[LNF_WEIGHT]), N, C,
                                   &model->workspace);
    memory_release(pass->memory, head->mark);
}
