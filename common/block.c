/* One transformer block, forward and backward; the contract is in block.h. N = B * T is the number
   of tokens; A the channels of the block's heads and F the columns of its MLP, C and 4 C in a block
   that is whole. */
#include "common/block.h"

BlockSize block_size(const Model *model, int layer) {
    const Param *p = model_block_params(model, layer);
    int A = p[PROJ_WEIGHT].cols;
    return (BlockSize){
        .heads = A / (model->config.C / model->config.NH), .A = A, .F = p[FC_WEIGHT].rows};
}

static void *keep(Pass *pass, int layer, const char *name, size_t bytes) {
    return memory_alloc(pass->memory, MEMORY_ACTIVATIONS, name, layer, bytes);
}

/* The input of a linear layer; NULL where no backward will read it. */
static Real *keep_input(Pass *pass, int layer, LinearId id, const char *name, size_t bytes) {
    return pass->model->dropped >> id & 1 ? NULL : keep(pass, layer, name, bytes);
}

/* The tensors in the order in which forward fills them; block.h has their shapes. */
static Block alloc(Pass *pass, int layer, bool with_probs) {
    const ModelConfig *config = &pass->model->config;
    BlockSize size = block_size(pass->model, layer);
    size_t N = (size_t)pass->B * (size_t)pass->T, element = precision_bytes(config->precision);
    size_t row = (size_t)config->C * element;
    size_t A = (size_t)size.A * element, F = (size_t)size.F * element;
    Block block = {.size = size};
    block.ln1 = keep_input(pass, layer, LINEAR_QKV, "ln1.out", N * row);
    block.ln1_mean = keep(pass, layer, "ln1.mean", N * sizeof(float));
    block.ln1_rstd = keep(pass, layer, "ln1.rstd", N * sizeof(float));
    block.qkv = keep(pass, layer, "attention.qkv", 3 * N * A);
    if (with_probs) {
        pass_block_alloc_probs(pass, layer, &block);
    }
    if (config->attention == ATTENTION_FLASH) {
        size_t heads = (size_t)size.heads;
        block.lse = keep(pass, layer, "attention.lse", N * heads * sizeof(float));
    }
    block.attention = keep_input(pass, layer, LINEAR_PROJ, "attention.out", N * A);
    block.mid = keep(pass, layer, "residual.mid", N * row);
    block.ln2 = keep_input(pass, layer, LINEAR_FC, "ln2.out", N * row);
    block.ln2_mean = keep(pass, layer, "ln2.mean", N * sizeof(float));
    block.ln2_rstd = keep(pass, layer, "ln2.rstd", N * sizeof(float));
    block.fc = keep(pass, layer, "mlp.fc", N * F);
    block.gelu = keep_input(pass, layer, LINEAR_FCPROJ, "mlp.gelu", N * F);
    return block;
}

Block pass_block_alloc(Pass *pass, int layer) {
    return alloc(pass, layer, true);
}

Block pass_block_alloc_without_probs(Pass *pass, int layer) {
    return alloc(pass, layer, false);
}

void pass_block_alloc_probs(Pass *pass, int layer, Block *block) {
    const ModelConfig *config = &pass->model->config;
    if (config->attention == ATTENTION_PLAIN) {
        size_t T = (size_t)pass->T, rows = (size_t)pass->B * T;
        size_t heads = (size_t)block_size(pass->model, layer).heads;
        size_t row = heads * T * precision_bytes(config->precision);
        block->probs = keep(pass, layer, "attention.probs", rows * row);
    }
}

static void attention_forward(Pass *pass, Real *out, Block *block) {
    const Model *model = pass->model;
    const Ops *ops = model->ops;
    int B = pass->B, T = pass->T, A = block->size.A, heads = block->size.heads;
    if (model->config.attention == ATTENTION_PLAIN) {
        CHECK(block->probs != NULL, "no memory for the probabilities: call block_alloc_probs()");
        ops->attention_forward(out, block->probs, block->qkv, B, T, A, heads, &model->workspace);
    } else {
        CHECK(block->attention != NULL, "flash attention's backward reads its output: keep it");
        ops->flash_forward(out, block->lse, block->qkv, B, T, A, heads, &model->workspace);
    }
}

/* Rows of activations, on top of the stack for as long as they are needed. */
static Real *rows(Pass *pass, int layer, const char *name, int width) {
    size_t n = (size_t)pass->B * (size_t)pass->T * (size_t)width;
    return keep(pass, layer, name, n * precision_bytes(pass->model->config.precision));
}

void pass_block_recompute_probs(Pass *pass, Block *block) {
    if (pass->model->config.attention == ATTENTION_PLAIN) {
        /* the op writes its output too: the bits that are there already, or that nobody reads */
        MemoryMark mark = memory_mark(pass->memory);
        Real *out = block->attention != NULL ? block->attention
                                             : rows(pass, -1, "attention.out", block->size.A);
        attention_forward(pass, out, block);
        memory_release(pass->memory, mark);
    }
}

static void forward_linear(Pass *pass, int layer, LinearId id, Block *block, Real *out,
                           const Real *in) {
    Linear linear = linear_of(pass, layer, id);
    linear_forward(&linear, out, in);
    block->adapter_dropout[id] = linear.mask;
}

static void backward_linear(Pass *pass, int layer, LinearId id, const Block *block, Real *din,
                            const Real *dout, const Real *in) {
    Linear linear = linear_of(pass, layer, id);
    linear.mask = block->adapter_dropout[id];
    linear_backward(&linear, din, dout, in);
}

/* ---- forward --------------------------------------------------------------------------------- */

/* qkv = ln_1(in) W_qkv^T + b_qkv */
static void qkv_forward(Pass *pass, int layer, const Real *in, Block *block) {
    const Model *model = pass->model;
    const Param *p = model_block_params(model, layer);
    int C = model->config.C;
    MemoryMark mark = memory_mark(pass->memory);
    Real *ln1 = block->ln1 != NULL ? block->ln1 : rows(pass, layer, "ln1.out", C);
    model->ops->layernorm_forward(ln1, block->ln1_mean, block->ln1_rstd, in,
                                  param_weight(&p[LN1_WEIGHT]), param_weight(&p[LN1_BIAS]),
                                  pass->B * pass->T, C);
    forward_linear(pass, layer, LINEAR_QKV, block, block->qkv, ln1);
    memory_release(pass->memory, mark);
}

/* mid = in + dropout(attention W_proj^T + b_proj), the branch computed where the sum will be */
static void mid_forward(Pass *pass, int layer, const Real *in, Block *block) {
    size_t n = (size_t)pass->B * (size_t)pass->T * (size_t)pass->model->config.C;
    MemoryMark mark = memory_mark(pass->memory);
    Real *attention = block->attention != NULL ? block->attention
                                               : rows(pass, layer, "attention.out", block->size.A);
    /* attention = softmax(q k^T / sqrt(HS)) v, for each head */
    attention_forward(pass, attention, block);
    forward_linear(pass, layer, LINEAR_PROJ, block, block->mid, attention);
    memory_release(pass->memory, mark);
    block->attention_dropout = pass_draw_dropout(pass, n);
    if (!pass->model->fused_norm) {
        pass->model->ops->residual_forward(block->mid, in, block->mid, n, block->attention_dropout);
    }
}

/* ln2 = ln_2(mid); where both ops are one, the branch in mid becomes the sum on the way. */
static void norm_forward(Pass *pass, int layer, const Real *in, Block *block, Real *ln2) {
    const Model *model = pass->model;
    const Param *p = model_block_params(model, layer);
    const Real *weight = param_weight(&p[LN2_WEIGHT]), *bias = param_weight(&p[LN2_BIAS]);
    int C = model->config.C, N = pass->B * pass->T;
    if (model->fused_norm) {
        model->ops->residual_norm_forward(block->mid, ln2, block->ln2_mean, block->ln2_rstd, in,
                                          block->mid, weight, bias, N, C, block->attention_dropout);
    } else {
        model->ops->layernorm_forward(ln2, block->ln2_mean, block->ln2_rstd, block->mid, weight,
                                      bias, N, C);
    }
}

/* fc = ln_2(mid) W_fc^T: the bias is added by the op that reads fc next */
static void fc_forward(Pass *pass, int layer, const Real *in, Block *block) {
    const Model *model = pass->model;
    int C = model->config.C;
    MemoryMark mark = memory_mark(pass->memory);
    Real *ln2 = block->ln2 != NULL ? block->ln2 : rows(pass, layer, "ln2.out", C);
    norm_forward(pass, layer, in, block, ln2);
    forward_linear(pass, layer, LINEAR_FC, block, block->fc, ln2);
    memory_release(pass->memory, mark);
}

/* out = mid + dropout(GELU(fc + b_fc) W_fcproj^T + b_fcproj). Where nothing will read `out`, a
   layer that is more than a product still runs: it draws a mask, or takes part in a sum. */
static void out_forward(Pass *pass, int layer, Real *out, Block *block) {
    const Model *model = pass->model;
    const Param *p = model_block_params(model, layer);
    int F = block->size.F, N = pass->B * pass->T;
    size_t n = (size_t)N * (size_t)model->config.C;
    MemoryMark mark = memory_mark(pass->memory);
    Real *gelu = block->gelu != NULL ? block->gelu : rows(pass, layer, "mlp.gelu", F);
    model->ops->gelu_forward(gelu, block->fc, param_weight(&p[FC_BIAS]), N, F);
    Linear linear = linear_of(pass, layer, LINEAR_FCPROJ);
    if (out != NULL) {
        forward_linear(pass, layer, LINEAR_FCPROJ, block, out, gelu);
    } else if (linear_is_joined(&linear)) {
        Real *branch = rows(pass, layer, "mlp.branch", model->config.C);
        forward_linear(pass, layer, LINEAR_FCPROJ, block, branch, gelu);
    }
    memory_release(pass->memory, mark);
    block->mlp_dropout = pass_draw_dropout(pass, n);
    if (out != NULL) {
        model->ops->residual_forward(out, block->mid, out, n, block->mlp_dropout);
    }
}

void pass_block_forward(Pass *pass, int layer, Real *out, const Real *in, Block *block) {
    pass_enter(pass, layer, false);
    qkv_forward(pass, layer, in, block);
    mid_forward(pass, layer, in, block);
    fc_forward(pass, layer, in, block);
    out_forward(pass, layer, out, block);
    pass->model->block_forwards += pass->train;
    pass_leave(pass, layer, false);
}

/* ---- backward -------------------------------------------------------------------------------- */

/* A gradient (C) to be written: a new one, or `fused` once more, where that is given. */
static Real *branch_gradient(Pass *pass, int layer, const char *name, Real *fused) {
    return fused != NULL ? fused : rows(pass, layer, name, pass->model->config.C);
}

/* dbranch = dropout(dstream). The op adds, and leaves the stream's gradient as it is. */
static void branch_backward(Pass *pass, Real *dbranch, const Real *dstream, Dropout dropout) {
    const Model *model = pass->model;
    size_t n = (size_t)pass->B * (size_t)pass->T * (size_t)model->config.C;
    device_fill(model->device, dbranch, 0, n * precision_bytes(model->config.precision));
    model->ops->residual_backward(NULL, dbranch, dstream, n, dropout);
}

/* On entry dmid is the gradient of the block's output, on return that of mid. The stream passes it
   on unchanged; layernorm_backward adds what comes through the branch. Where residual and norm are
   one op, `fused` lies below all that is allocated here, and gets the gradient of attention's
   branch. */
static void mlp_backward(Pass *pass, int layer, Real *dmid, const Block *block, Real *fused) {
    const Model *model = pass->model;
    const Ops *ops = model->ops;
    const Param *p = model_block_params(model, layer);
    int C = model->config.C, F = block->size.F, N = pass->B * pass->T;

    /* dfc outlives dbranch, so it lies below it on the stack. */
    MemoryMark mark = memory_mark(pass->memory);
    Real *dfc = rows(pass, layer, "mlp.dfc", F);
    MemoryMark above = memory_mark(pass->memory);
    Real *dbranch = branch_gradient(pass, layer, "mlp.dbranch", fused);
    branch_backward(pass, dbranch, dmid, block->mlp_dropout);
    /* out = gelu W_fcproj^T + b_fcproj, so dgelu = dbranch W_fcproj; it is kept in dfc */
    backward_linear(pass, layer, LINEAR_FCPROJ, block, dfc, dbranch, block->gelu);
    memory_release(pass->memory, above);
    /* in place: dfc = dgelu * GELU'(fc) */
    ops->gelu_backward(dfc, dfc, block->fc, N, F);
    Real *dln2 = branch_gradient(pass, layer, "ln2.dout", fused);
    /* dln2 = dfc W_fc, and the gradient of the bias that gelu_forward added */
    backward_linear(pass, layer, LINEAR_FC, block, dln2, dfc, block->ln2);
    float *dweight = model_norm_grad(model, &p[LN2_WEIGHT]);
    float *dbias = model_norm_grad(model, &p[LN2_BIAS]);
    const Real *weight = param_weight(&p[LN2_WEIGHT]);
    /* dmid += the gradient through ln_2, */
    if (fused == NULL) {
        ops->layernorm_backward(dmid, dweight, dbias, dln2, block->mid, block->ln2_mean,
                                block->ln2_rstd, weight, N, C, &model->workspace);
    } else { /* and dropout(dmid) takes the place of dln2 */
        ops->residual_norm_backward(dmid, fused, dweight, dbias, dln2, block->mid, block->ln2_mean,
                                    block->ln2_rstd, weight, N, C, block->attention_dropout,
                                    &model->workspace);
    }
    memory_release(pass->memory, mark);
}

/* The same for the first branch: on entry din is the gradient of mid, on return that of `in`; in
   `fused` the gradient of the branch is there already. */
static void attention_backward(Pass *pass, int layer, Real *din, const Real *in, const Block *block,
                               Real *fused) {
    const Model *model = pass->model;
    const Ops *ops = model->ops;
    const Param *p = model_block_params(model, layer);
    int B = pass->B, T = pass->T, C = model->config.C, N = B * T;
    int A = block->size.A, heads = block->size.heads;

    MemoryMark mark = memory_mark(pass->memory);
    Real *dqkv = rows(pass, layer, "attention.dqkv", 3 * A);
    MemoryMark above = memory_mark(pass->memory);
    Real *dout = rows(pass, layer, "attention.dout", A);
    Real *dbranch = branch_gradient(pass, layer, "attention.dbranch", fused);
    if (fused == NULL) {
        branch_backward(pass, dbranch, din, block->attention_dropout);
    }
    /* dout = dbranch W_proj */
    backward_linear(pass, layer, LINEAR_PROJ, block, dout, dbranch, block->attention);
    /* dqkv = the gradient of queries, keys and values */
    if (model->config.attention == ATTENTION_PLAIN) {
        CHECK(block->probs != NULL, "the probabilities are missing: call block_recompute_probs()");
        ops->attention_backward(dqkv, dout, block->probs, block->qkv, B, T, A, heads,
                                &model->workspace);
    } else {
        ops->flash_backward(dqkv, dout, block->attention, block->lse, block->qkv, B, T, A, heads,
                            &model->workspace);
    }
    memory_release(pass->memory, above);
    Real *dln1 = rows(pass, layer, "ln1.dout", C);
    /* dln1 = dqkv W_qkv */
    backward_linear(pass, layer, LINEAR_QKV, block, dln1, dqkv, block->ln1);
    /* din += the gradient through ln_1 */
    ops->layernorm_backward(din, model_norm_grad(model, &p[LN1_WEIGHT]),
                            model_norm_grad(model, &p[LN1_BIAS]), dln1, in, block->ln1_mean,
                            block->ln1_rstd, param_weight(&p[LN1_WEIGHT]), N, C, &model->workspace);
    memory_release(pass->memory, mark);
}

void pass_block_backward(Pass *pass, int layer, Real *dx, const Real *in, const Block *block) {
    pass_enter(pass, layer, true);
    MemoryMark mark = memory_mark(pass->memory);
    Real *fused =
        pass->model->fused_norm ? rows(pass, layer, "block.dbranch", pass->model->config.C) : NULL;
    mlp_backward(pass, layer, dx, block, fused);
    attention_backward(pass, layer, dx, in, block, fused);
    memory_release(pass->memory, mark);
    pass_leave(pass, layer, true);
}

/* ---- for the model's own pass, under the names that labs know -------------------------------- */

Block block_alloc(Model *model, int layer) {
    return pass_block_alloc(&model->pass, layer);
}

Block block_alloc_without_probs(Model *model, int layer) {
    return pass_block_alloc_without_probs(&model->pass, layer);
}

void block_alloc_probs(Model *model, int layer, Block *block) {
    pass_block_alloc_probs(&model->pass, layer, block);
}

void block_recompute_probs(Model *model, Block *block) {
    pass_block_recompute_probs(&model->pass, block);
}

void block_forward(Model *model, int layer, Real *out, const Real *in, Block *block) {
    pass_block_forward(&model->pass, layer, out, in, block);
}

void block_backward(Model *model, int layer, Real *dx, const Real *in, const Block *block) {
    pass_block_backward(&model->pass, layer, dx, in, block);
}
