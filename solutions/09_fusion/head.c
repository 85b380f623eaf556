/* Lab 09: the head in chunks of rows. The contract is in labs/09_fusion/contract.h. */
#include "common/lab.h"
#include "common/model.h"
#include "labs/09_fusion/contract.h"

int head_chunk_rows(int N, int C, int V) {
#ifndef STUB
    /* what is rounded up may be more than an int holds */
    size_t most = (size_t)N, wide = ((size_t)V + (size_t)C - 1) / (size_t)C;
    size_t least = (most + wide - 1) / wide, rows = 1;
    while (rows < least) {
        rows *= 2;
    }
    return (int)(rows < most ? rows : most);
#else
    (void)N, (void)C, (void)V;
    TODO("task 3: rows of a chunk (about 5 lines)");
#endif
}

/* A tensor of the head with `bytes` for each token of the pass. */
static void *head_alloc(Pass *pass, const char *name, size_t bytes) {
    size_t N = (size_t)pass->B * (size_t)pass->T;
    return memory_alloc(pass->memory, MEMORY_ACTIVATIONS, name, -1, N * bytes);
}

/* Some rows of the pass, and what belongs to them: their parts of lnf and dlnf, of losses, lse and
   targets, and the logits. */
#ifndef STUB
typedef struct HeadChunk {
    int rows;
    Real *lnf;
    Real *dlnf; /* NULL in forward */
    float *losses, *lse;
    const int32_t *targets;
    Real *logits; /* (rows, V), of this chunk alone */
} HeadChunk;

static Real *row_of(const Pass *pass, Real *x, int row) {
    size_t bytes = (size_t)pass->model->config.C * precision_bytes(pass->model->config.precision);
    return (Real *)((char *)x + (size_t)row * bytes);
}

/* The chunk that begins at a row, its logits computed. */
static HeadChunk chunk_at(const Pass *pass, int row, int rows, Real *dlnf, Real *logits) {
    const Model *model = pass->model;
    int N = pass->B * pass->T, C = model->config.C, V = model->config.V;
    HeadChunk chunk = {.rows = rows < N - row ? rows : N - row,
                       .lnf = row_of(pass, pass->head.lnf, row),
                       .dlnf = dlnf != NULL ? row_of(pass, dlnf, row) : NULL,
                       .losses = pass->head.losses + row,
                       .lse = pass->head.lse + row,
                       .targets = pass->targets + row,
                       .logits = logits};
    model->ops->matmul_forward(logits, chunk.lnf, param_weight(&model->base[WTE]), NULL, chunk.rows,
                               C, V, logits_stride(V), &model->workspace);
    return chunk;
}

static Real *chunk_logits(Pass *pass, int rows) {
    const ModelConfig *config = &pass->model->config;
    size_t row = (size_t)logits_stride(config->V) * precision_bytes(config->precision);
    return memory_alloc(pass->memory, MEMORY_ACTIVATIONS, "logits", -1, (size_t)rows * row);
}
#endif

double head_forward(Pass *pass, const Real *x) {
    const Model *model = pass->model;
    const Param *params = model->base;
    int C = model->config.C, V = model->config.V, N = pass->B * pass->T;
    int rows = head_chunk_rows(N, C, V);
    Head *head = &pass->head;
    *head = (Head){.mark = memory_mark(pass->memory)};
    head->lnf = head_alloc(pass, "lnf.out", (size_t)C * precision_bytes(model->config.precision));
    head->mean = head_alloc(pass, "lnf.mean", sizeof(float));
    head->rstd = head_alloc(pass, "lnf.rstd", sizeof(float));
    head->losses = head_alloc(pass, "losses", sizeof(float));
    head->lse = head_alloc(pass, "losses.lse", sizeof(float));
    model->ops->layernorm_forward(head->lnf, head->mean, head->rstd, x,
                                  param_weight(&params[LNF_WEIGHT]),
                                  param_weight(&params[LNF_BIAS]), N, C);
    /* Each chunk's logits take the place of those before. */
#ifndef STUB
    MemoryMark mark = memory_mark(pass->memory);
    Real *logits = chunk_logits(pass, rows);
    for (int row = 0; row < N; row += rows) {
        HeadChunk chunk = chunk_at(pass, row, rows, NULL, logits);
        model->ops->crossentropy_forward(chunk.losses, chunk.lse, logits, chunk.targets, chunk.rows,
                                         V, logits_stride(V));
    }
    memory_release(pass->memory, mark);
#else
    (void)rows;
    TODO("task 3: logits, losses and lse of chunk after chunk (about 15 lines)");
#endif
    return pass_losses(pass);
}

void head_backward(Pass *pass, const Real *x, float dloss) {
    const Model *model = pass->model;
    const Param *params = model->base;
    const Head *head = &pass->head;
    int C = model->config.C, V = model->config.V, N = pass->B * pass->T;
    int rows = head_chunk_rows(N, C, V);
    size_t bytes = (size_t)N * (size_t)C * precision_bytes(model->config.precision);
    Real *dlnf = memory_alloc_zero(pass->memory, MEMORY_ACTIVATIONS, "lnf.dout", -1, bytes);
    /* Forward has kept lse, so a chunk needs no other; what it adds to the embedding is added to
       the gradient itself, which is float. */
#ifndef STUB
    MemoryMark mark = memory_mark(pass->memory);
    Real *logits = chunk_logits(pass, rows);
    for (int row = 0; row < N; row += rows) {
        HeadChunk chunk = chunk_at(pass, row, rows, dlnf, logits);
        model->ops->crossentropy_backward(logits, logits, chunk.lse, chunk.targets, dloss,
                                          chunk.rows, V, logits_stride(V));
        model->ops->matmul_backward(chunk.dlnf, param_grad(&params[WTE]), NULL, logits, chunk.lnf,
                                    param_weight(&params[WTE]), chunk.rows, C, V, logits_stride(V),
                                    &model->workspace);
    }
    memory_release(pass->memory, mark);
#else
    (void)dloss, (void)V, (void)rows;
    TODO("task 3: chunk after chunk: logits, their gradient, what they add (about 20 lines)");
#endif
    device_fill(model->device, pass->dx, 0, bytes);
    model->ops->layernorm_backward(pass->dx, model_norm_grad(model, &params[LNF_WEIGHT]),
                                   model_norm_grad(model, &params[LNF_BIAS]), dlnf, x, head->mean,
                                   head->rstd, param_weight(&params[LNF_WEIGHT]), N, C,
                                   &model->workspace);
    memory_release(pass->memory, head->mark);
}
