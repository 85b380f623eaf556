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

/* The tensors in the order in which forward fills them; block.h has their shapes. */
static Block alloc(Pass *pass, int layer, bool with_probs) {
    const ModelConfig *config = &pass->model->config;
    BlockSize size = block_size(pass->model, layer);
    size_t N = (size_t)pass->B * (size_t)pass->T, element = precision_bytes(config->precision);
    size_t row = (size_t)config->C * element;
    size_t A = (size_t)size.A * element, F = (size_t)size.F * element;
    Block block = {.size = size};
    block.ln1 = keep(pass, layer, "ln1.out", N * row);
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
    block.attention = keep(pass, layer, "attention.out", N * A);
    block.mid = keep(pass, layer, "residual.mid", N * row);
    block.ln2 = keep(pass, layer, "ln2.out", N * row);
    block.ln2_mean = keep(pass, layer, "ln2.mean", N * sizeof(float));
    block.ln2_rstd = keep(pass, layer, "ln2.rstd", N * sizeof(float));
    block.fc = keep(pass, layer, "mlp.fc", N * F);
    block.gelu = keep(pass, layer, "mlp.gelu", N * F);
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

static void attention_forward(Pass *pass, Block *block) {
    const Model *model = pass->model;
    const Ops *ops = model->ops;
    int B = pass->B, T = pass->T, A = block->size.A, heads = block->size.heads;
    if (model->config.attention == ATTENTION_PLAIN) {
        CHECK(block->probs != NULL, "no memory for the probabilities: call block_alloc_probs()");
        ops->attention_forward(block->attention, block->probs, block->qkv, B, T, A, heads,
                               &model->workspace);
    } else {
        ops->flash_forward(block->attention, block->lse, block->qkv, B, T, A, heads,
                           &model->workspace);
    }
}

void pass_block_recompute_probs(Pass *pass, Block *block) {
    if (pass->model->config.attention == ATTENTION_PLAIN) {
        /* the op writes its output too: the bits that are there already */
        attention_forward(pass, block);
    }
}

/* Adds up the parts of (B, T, C) numbers that the ranks of this block have. */
static void sum_parts(const Pass *pass, Real *x) {
    const Model *model = pass->model;
    CHECK(model->sum != NULL || model->part.shards == 1,
          "each of %d ranks has a part of the block: set model->sum", model->part.shards);
    if (model->sum != NULL) {
        model->sum(model->sum_context, x,
                   (size_t)pass->B * (size_t)pass->T * (size_t)model->config.C);
    }
}

/* A bias that all ranks of a block have whole: one of them adds it to the sum. */
static const Real *bias_of_sum(const Model *model, const Param *bias) {
    return model->part.shard == 0 ? param_weight(bias) : NULL;
}

void pass_block_forward(Pass *pass, int layer, Real *out, const Real *in, Block *block) {
    Model *model = pass->model;
    const Ops *ops = model->ops;
    const Param *p = model_block_params(model, layer);
    const Workspace *workspace = &model->workspace;
    int C = model->config.C, A = block->size.A, F = block->size.F, N = pass->B * pass->T;
    size_t n = (size_t)N * (size_t)C;

    /* ln1 = ln_1(in) */
    ops->layernorm_forward(block->ln1, block->ln1_mean, block->ln1_rstd, in,
                           param_weight(&p[LN1_WEIGHT]), param_weight(&p[LN1_BIAS]), N, C);
    /* qkv = ln1 W_qkv^T + b_qkv */
    ops->matmul_forward(block->qkv, block->ln1, param_weight(&p[QKV_WEIGHT]),
                        param_weight(&p[QKV_BIAS]), N, C, 3 * A, 3 * A, workspace);
    /* attention = softmax(q k^T / sqrt(HS)) v, for each head */
    attention_forward(pass, block);
    /* mid = in + dropout(attention W_proj^T + b_proj), the branch computed where the sum will be */
    ops->matmul_forward(block->mid, block->attention, param_weight(&p[PROJ_WEIGHT]),
                        bias_of_sum(model, &p[PROJ_BIAS]), N, A, C, C, workspace);
    sum_parts(pass, block->mid);
    block->attention_dropout = pass_draw_dropout(pass, n);
    ops->residual_forward(block->mid, in, block->mid, n, block->attention_dropout);

    /* ln2 = ln_2(mid) */
    ops->layernorm_forward(block->ln2, block->ln2_mean, block->ln2_rstd, block->mid,
                           param_weight(&p[LN2_WEIGHT]), param_weight(&p[LN2_BIAS]), N, C);
    /* gelu = GELU(ln2 W_fc^T + b_fc): the bias is added by the op that reads fc next */
    ops->matmul_forward(block->fc, block->ln2, param_weight(&p[FC_WEIGHT]), NULL, N, C, F, F,
                        workspace);
    ops->gelu_forward(block->gelu, block->fc, param_weight(&p[FC_BIAS]), N, F);
    /* out = mid + dropout(gelu W_fcproj^T + b_fcproj) */
    ops->matmul_forward(out, block->gelu, param_weight(&p[FCPROJ_WEIGHT]),
                        bias_of_sum(model, &p[FCPROJ_BIAS]), N, F, C, C, workspace);
    sum_parts(pass, out);
    block->mlp_dropout = pass_draw_dropout(pass, n);
    ops->residual_forward(out, block->mid, out, n, block->mlp_dropout);
    model->block_forwards += pass->train;
}

/* A gradient of an activation: zero, since ops add to it. `width` numbers per token. */
static Real *gradient(Pass *pass, int layer, const char *name, int width) {
    size_t n = (size_t)pass->B * (size_t)pass->T * (size_t)width;
    return memory_alloc_zero(pass->memory, MEMORY_ACTIVATIONS, name, layer,
                             n * precision_bytes(pass->model->config.precision));
}

/* On entry dmid is the gradient of the block's output, on return that of mid. The stream passes it
   on unchanged; layernorm_backward adds what comes through the branch. */
static void mlp_backward(Pass *pass, int layer, Real *dmid, const Block *block) {
    const Model *model = pass->model;
    const Ops *ops = model->ops;
    const Param *p = model_block_params(model, layer);
    const Workspace *workspace = &model->workspace;
    int C = model->config.C, F = block->size.F, N = pass->B * pass->T;

    /* dfc outlives dbranch, so it lies below it on the stack. */
    MemoryMark mark = memory_mark(pass->memory);
    Real *dfc = gradient(pass, layer, "mlp.dfc", F);
    MemoryMark above = memory_mark(pass->memory);
    Real *dbranch = gradient(pass, layer, "mlp.dbranch", C);
    /* dbranch = dropout(dmid): NULL, since dmid is the stream's gradient already */
    ops->residual_backward(NULL, dbranch, dmid, (size_t)N * (size_t)C, block->mlp_dropout);
    /* out = gelu W_fcproj^T + b_fcproj, so dgelu = dbranch W_fcproj; it is kept in dfc */
    ops->matmul_backward(dfc, param_grad(&p[FCPROJ_WEIGHT]), param_grad(&p[FCPROJ_BIAS]), dbranch,
                         block->gelu, param_weight(&p[FCPROJ_WEIGHT]), N, F, C, C, workspace);
    memory_release(pass->memory, above);
    /* in place: dfc = dgelu * GELU'(fc) */
    ops->gelu_backward(dfc, dfc, block->fc, N, F);
    Real *dln2 = gradient(pass, layer, "ln2.dout", C);
    /* dln2 = dfc W_fc, and the gradient of the bias that gelu_forward added */
    ops->matmul_backward(dln2, param_grad(&p[FC_WEIGHT]), param_grad(&p[FC_BIAS]), dfc, block->ln2,
                         param_weight(&p[FC_WEIGHT]), N, C, F, F, workspace);
    sum_parts(pass, dln2);
    /* dmid += the gradient through ln_2 */
    ops->layernorm_backward(dmid, param_grad(&p[LN2_WEIGHT]), param_grad(&p[LN2_BIAS]), dln2,
                            block->mid, block->ln2_mean, block->ln2_rstd,
                            param_weight(&p[LN2_WEIGHT]), N, C, workspace);
    memory_release(pass->memory, mark);
}

/* The same for the first branch: on entry din is the gradient of mid, on return that of `in`. */
static void attention_backward(Pass *pass, int layer, Real *din, const Real *in,
                               const Block *block) {
    const Model *model = pass->model;
    const Ops *ops = model->ops;
    const Param *p = model_block_params(model, layer);
    const Workspace *workspace = &model->workspace;
    int B = pass->B, T = pass->T, C = model->config.C, N = B * T;
    int A = block->size.A, heads = block->size.heads;

    MemoryMark mark = memory_mark(pass->memory);
    Real *dqkv = gradient(pass, layer, "attention.dqkv", 3 * A);
    MemoryMark above = memory_mark(pass->memory);
    Real *dout = gradient(pass, layer, "attention.dout", A);
    Real *dbranch = gradient(pass, layer, "attention.dbranch", C);
    /* dbranch = dropout(din) */
    ops->residual_backward(NULL, dbranch, din, (size_t)N * (size_t)C, block->attention_dropout);
    /* dout = dbranch W_proj */
    ops->matmul_backward(dout, param_grad(&p[PROJ_WEIGHT]), param_grad(&p[PROJ_BIAS]), dbranch,
                         block->attention, param_weight(&p[PROJ_WEIGHT]), N, A, C, C, workspace);
    /* dqkv += the gradient of queries, keys and values */
    if (model->config.attention == ATTENTION_PLAIN) {
        CHECK(block->probs != NULL, "the probabilities are missing: call block_recompute_probs()");
        ops->attention_backward(dqkv, dout, block->probs, block->qkv, B, T, A, heads, workspace);
    } else {
        ops->flash_backward(dqkv, dout, block->attention, block->lse, block->qkv, B, T, A, heads,
                            workspace);
    }
    memory_release(pass->memory, above);
    Real *dln1 = gradient(pass, layer, "ln1.dout", C);
    /* dln1 = dqkv W_qkv */
    ops->matmul_backward(dln1, param_grad(&p[QKV_WEIGHT]), param_grad(&p[QKV_BIAS]), dqkv,
                         block->ln1, param_weight(&p[QKV_WEIGHT]), N, C, 3 * A, 3 * A, workspace);
    sum_parts(pass, dln1);
    /* din += the gradient through ln_1 */
    ops->layernorm_backward(din, param_grad(&p[LN1_WEIGHT]), param_grad(&p[LN1_BIAS]), dln1, in,
                            block->ln1_mean, block->ln1_rstd, param_weight(&p[LN1_WEIGHT]), N, C,
                            workspace);
    memory_release(pass->memory, mark);
}

void pass_block_backward(Pass *pass, int layer, Real *dx, const Real *in, const Block *block) {
    mlp_backward(pass, layer, dx, block);
    attention_backward(pass, layer, dx, in, block);
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
