/* One transformer block, forward and backward; the contract is in block.h. N = B * T is the number
   of tokens. */
#include "common/block.h"

static void *keep(Model *model, int layer, const char *name, size_t bytes) {
    return memory_alloc(model->memory, MEMORY_ACTIVATIONS, name, layer, bytes);
}

/* The tensors in the order in which forward fills them; block.h has their shapes. */
static Block alloc(Model *model, int layer, bool with_probs) {
    size_t N = (size_t)model->pass.B * (size_t)model->pass.T;
    size_t row = (size_t)model->config.C * precision_bytes(model->config.precision);
    size_t heads = (size_t)model->config.NH;
    Block block = {0};
    block.ln1 = keep(model, layer, "ln1.out", N * row);
    block.ln1_mean = keep(model, layer, "ln1.mean", N * sizeof(float));
    block.ln1_rstd = keep(model, layer, "ln1.rstd", N * sizeof(float));
    block.qkv = keep(model, layer, "attention.qkv", 3 * N * row);
    if (with_probs) {
        block_alloc_probs(model, layer, &block);
    }
    if (model->config.attention == ATTENTION_FLASH) {
        block.lse = keep(model, layer, "attention.lse", N * heads * sizeof(float));
    }
    block.attention = keep(model, layer, "attention.out", N * row);
    block.mid = keep(model, layer, "residual.mid", N * row);
    block.ln2 = keep(model, layer, "ln2.out", N * row);
    block.ln2_mean = keep(model, layer, "ln2.mean", N * sizeof(float));
    block.ln2_rstd = keep(model, layer, "ln2.rstd", N * sizeof(float));
    block.fc = keep(model, layer, "mlp.fc", 4 * N * row);
    block.gelu = keep(model, layer, "mlp.gelu", 4 * N * row);
    return block;
}

Block block_alloc(Model *model, int layer) {
    return alloc(model, layer, true);
}

Block block_alloc_without_probs(Model *model, int layer) {
    return alloc(model, layer, false);
}

void block_alloc_probs(Model *model, int layer, Block *block) {
    if (model->config.attention == ATTENTION_PLAIN) {
        size_t T = (size_t)model->pass.T, rows = (size_t)model->pass.B * T;
        size_t row = (size_t)model->config.NH * T * precision_bytes(model->config.precision);
        block->probs = keep(model, layer, "attention.probs", rows * row);
    }
}

static void attention_forward(Model *model, Block *block) {
    const Ops *ops = model->ops;
    int B = model->pass.B, T = model->pass.T, C = model->config.C, NH = model->config.NH;
    if (model->config.attention == ATTENTION_PLAIN) {
        CHECK(block->probs != NULL, "no memory for the probabilities: call block_alloc_probs()");
        ops->attention_forward(block->attention, block->probs, block->qkv, B, T, C, NH,
                               &model->workspace);
    } else {
        ops->flash_forward(block->attention, block->lse, block->qkv, B, T, C, NH,
                           &model->workspace);
    }
}

void block_recompute_probs(Model *model, Block *block) {
    if (model->config.attention == ATTENTION_PLAIN) {
        /* the op writes its output too: the bits that are there already */
        attention_forward(model, block);
    }
}

void block_forward(Model *model, int layer, Real *out, const Real *in, Block *block) {
    const Ops *ops = model->ops;
    const Param *p = model_block_params(model, layer);
    const Workspace *workspace = &model->workspace;
    int C = model->config.C, N = model->pass.B * model->pass.T;
    size_t n = (size_t)N * (size_t)C;

    /* ln1 = ln_1(in) */
    ops->layernorm_forward(block->ln1, block->ln1_mean, block->ln1_rstd, in, p[LN1_WEIGHT].weight,
                           p[LN1_BIAS].weight, N, C);
    /* qkv = ln1 W_qkv^T + b_qkv */
    ops->matmul_forward(block->qkv, block->ln1, p[QKV_WEIGHT].weight, p[QKV_BIAS].weight, N, C,
                        3 * C, 3 * C, workspace);
    /* attention = softmax(q k^T / sqrt(HS)) v, for each head */
    attention_forward(model, block);
    /* mid = in + dropout(attention W_proj^T + b_proj), the branch computed where the sum will be */
    ops->matmul_forward(block->mid, block->attention, p[PROJ_WEIGHT].weight, p[PROJ_BIAS].weight, N,
                        C, C, C, workspace);
    block->attention_dropout = model_draw_dropout(model, n);
    ops->residual_forward(block->mid, in, block->mid, n, block->attention_dropout);

    /* ln2 = ln_2(mid) */
    ops->layernorm_forward(block->ln2, block->ln2_mean, block->ln2_rstd, block->mid,
                           p[LN2_WEIGHT].weight, p[LN2_BIAS].weight, N, C);
    /* gelu = GELU(ln2 W_fc^T + b_fc): the bias is added by the op that reads fc next */
    ops->matmul_forward(block->fc, block->ln2, p[FC_WEIGHT].weight, NULL, N, C, 4 * C, 4 * C,
                        workspace);
    ops->gelu_forward(block->gelu, block->fc, p[FC_BIAS].weight, N, 4 * C);
    /* out = mid + dropout(gelu W_fcproj^T + b_fcproj) */
    ops->matmul_forward(out, block->gelu, p[FCPROJ_WEIGHT].weight, p[FCPROJ_BIAS].weight, N, 4 * C,
                        C, C, workspace);
    block->mlp_dropout = model_draw_dropout(model, n);
    ops->residual_forward(out, block->mid, out, n, block->mlp_dropout);
    model->block_forwards += model->pass.train;
}

/* A gradient of an activation: zero, since ops add to it. `width` numbers per token. */
static Real *gradient(Model *model, int layer, const char *name, int width) {
    size_t N = (size_t)model->pass.B * (size_t)model->pass.T;
    return memory_alloc_zero(model->memory, MEMORY_ACTIVATIONS, name, layer,
                             N * (size_t)width * precision_bytes(model->config.precision));
}

/* On entry dmid is the gradient of the block's output, on return that of mid. The stream passes it
   on unchanged; layernorm_backward adds what comes through the branch. */
static void mlp_backward(Model *model, int layer, Real *dmid, const Block *block) {
    const Ops *ops = model->ops;
    const Param *p = model_block_params(model, layer);
    const Workspace *workspace = &model->workspace;
    int C = model->config.C, N = model->pass.B * model->pass.T;

    /* dfc outlives dbranch, so it lies below it on the stack. */
    MemoryMark mark = memory_mark(model->memory);
    Real *dfc = gradient(model, layer, "mlp.dfc", 4 * C);
    MemoryMark above = memory_mark(model->memory);
    Real *dbranch = gradient(model, layer, "mlp.dbranch", C);
    /* dbranch = dropout(dmid): NULL, since dmid is the stream's gradient already */
    ops->residual_backward(NULL, dbranch, dmid, (size_t)N * (size_t)C, block->mlp_dropout);
    /* out = gelu W_fcproj^T + b_fcproj, so dgelu = dbranch W_fcproj; it is kept in dfc */
    ops->matmul_backward(dfc, p[FCPROJ_WEIGHT].grad, p[FCPROJ_BIAS].grad, dbranch, block->gelu,
                         p[FCPROJ_WEIGHT].weight, N, 4 * C, C, C, workspace);
    memory_release(model->memory, above);
    /* in place: dfc = dgelu * GELU'(fc) */
    ops->gelu_backward(dfc, dfc, block->fc, N, 4 * C);
    Real *dln2 = gradient(model, layer, "ln2.dout", C);
    /* dln2 = dfc W_fc, and the gradient of the bias that gelu_forward added */
    ops->matmul_backward(dln2, p[FC_WEIGHT].grad, p[FC_BIAS].grad, dfc, block->ln2,
                         p[FC_WEIGHT].weight, N, C, 4 * C, 4 * C, workspace);
    /* dmid += the gradient through ln_2 */
    ops->layernorm_backward(dmid, p[LN2_WEIGHT].grad, p[LN2_BIAS].grad, dln2, block->mid,
                            block->ln2_mean, block->ln2_rstd, p[LN2_WEIGHT].weight, N, C,
                            workspace);
    memory_release(model->memory, mark);
}

/* The same for the first branch: on entry din is the gradient of mid, on return that of `in`. */
static void attention_backward(Model *model, int layer, Real *din, const Real *in,
                               const Block *block) {
    const Ops *ops = model->ops;
    const Param *p = model_block_params(model, layer);
    const Workspace *workspace = &model->workspace;
    int B = model->pass.B, T = model->pass.T, C = model->config.C, NH = model->config.NH;
    int N = B * T;

    MemoryMark mark = memory_mark(model->memory);
    Real *dqkv = gradient(model, layer, "attention.dqkv", 3 * C);
    MemoryMark above = memory_mark(model->memory);
    Real *dout = gradient(model, layer, "attention.dout", C);
    Real *dbranch = gradient(model, layer, "attention.dbranch", C);
    /* dbranch = dropout(din) */
    ops->residual_backward(NULL, dbranch, din, (size_t)N * (size_t)C, block->attention_dropout);
    /* dout = dbranch W_proj */
    ops->matmul_backward(dout, p[PROJ_WEIGHT].grad, p[PROJ_BIAS].grad, dbranch, block->attention,
                         p[PROJ_WEIGHT].weight, N, C, C, C, workspace);
    /* dqkv += the gradient of queries, keys and values */
    if (model->config.attention == ATTENTION_PLAIN) {
        CHECK(block->probs != NULL, "the probabilities are missing: call block_recompute_probs()");
        ops->attention_backward(dqkv, dout, block->probs, block->qkv, B, T, C, NH, workspace);
    } else {
        ops->flash_backward(dqkv, dout, block->attention, block->lse, block->qkv, B, T, C, NH,
                            workspace);
    }
    memory_release(model->memory, above);
    Real *dln1 = gradient(model, layer, "ln1.dout", C);
    /* dln1 = dqkv W_qkv */
    ops->matmul_backward(dln1, p[QKV_WEIGHT].grad, p[QKV_BIAS].grad, dqkv, block->ln1,
                         p[QKV_WEIGHT].weight, N, C, 3 * C, 3 * C, workspace);
    /* din += the gradient through ln_1 */
    ops->layernorm_backward(din, p[LN1_WEIGHT].grad, p[LN1_BIAS].grad, dln1, in, block->ln1_mean,
                            block->ln1_rstd, p[LN1_WEIGHT].weight, N, C, workspace);
    memory_release(model->memory, mark);
}

void block_backward(Model *model, int layer, Real *dx, const Real *in, const Block *block) {
    mlp_backward(model, layer, dx, block);
    attention_backward(model, layer, dx, in, block);
}
