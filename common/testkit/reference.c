/* The whole model in double: a pass forward and backward, and clipping. The contract is in
   reference.h; its ops are in reference_ops.c. */
#include "common/testkit/reference.h"

#include <math.h>
#include <stdlib.h>

static double *zeros(size_t n) {
    double *values = calloc(n > 0 ? n : 1, sizeof *values);
    CHECK(values != NULL, "no memory for %zu doubles", n);
    return values;
}

Reference *reference_new(const ModelConfig *config) {
    Reference *reference = calloc(1, sizeof *reference);
    CHECK(reference != NULL, "no memory for a few bytes");
    size_t count = (size_t)params_count(config);
    reference->config = *config;
    reference->param_count = (int)count;
    reference->params = calloc(count, sizeof *reference->params);
    reference->weight = calloc(count, sizeof *reference->weight);
    reference->grad = calloc(count, sizeof *reference->grad);
    CHECK(reference->params && reference->weight && reference->grad, "no memory for %zu", count);
    params_describe(reference->params, config);
    reference->smallest = HUGE_VAL;
    for (size_t i = 0; i < count; i++) {
        reference->weight[i] = zeros(reference->params[i].count);
        reference->grad[i] = zeros(reference->params[i].count);
    }
    return reference;
}

void reference_free(Reference *reference) {
    if (reference == NULL) {
        return;
    }
    for (int i = 0; i < reference->param_count; i++) {
        free(reference->weight[i]);
        free(reference->grad[i]);
    }
    free(reference->params);
    free(reference->weight);
    free(reference->grad);
    free(reference);
}

void reference_zero_grad(Reference *reference) {
    for (int i = 0; i < reference->param_count; i++) {
        for (size_t j = 0; j < reference->params[i].count; j++) {
            reference->grad[i][j] = 0;
        }
    }
    reference->smallest = HUGE_VAL;
    reference->largest = 0;
}

/* Keeps in mind how small and how large gradients of activations get. */
static void seen(Reference *reference, const double *gradient, size_t n) {
    for (size_t i = 0; i < n; i++) {
        double size = fabs(gradient[i]);
        if (size > 0) {
            reference->smallest = fmin(reference->smallest, size);
            reference->largest = fmax(reference->largest, size);
        }
    }
}

/* The tensors that one block keeps for its backward. */
typedef struct ReferenceKept {
    double *ln1, *mean1, *rstd1, *qkv, *probs, *attention, *mid, *ln2, *mean2, *rstd2, *fc, *gelu;
    double *mask1, *mask2; /* dropout factors of the two branches */
} ReferenceKept;

/* A pass in progress: sizes, and where the dropout stream stands. */
typedef struct Pass64 {
    Reference *reference;
    int B, T, N;
    Dropout dropout;
} Pass64;

static double *draw_mask(Pass64 *pass) {
    size_t n = (size_t)pass->N * (size_t)pass->reference->config.C;
    double *factor = zeros(n);
    reference_dropout_factors(factor, n, pass->dropout);
    if (pass->dropout.p > 0) {
        pass->dropout.offset += (n + 3) / 4;
    }
    return factor;
}

static double *weight_of(const Reference *reference, int layer, int id) {
    return reference->weight[layer < 0 ? id : MODEL_PARAMS + layer * BLOCK_PARAMS + id];
}

static double *grad_of(const Reference *reference, int layer, int id) {
    return reference->grad[layer < 0 ? id : MODEL_PARAMS + layer * BLOCK_PARAMS + id];
}

#define W(id) weight_of(reference, layer, id)
#define G(id) grad_of(reference, layer, id)

static ReferenceKept kept_new(const Pass64 *pass) {
    size_t N = (size_t)pass->N, C = (size_t)pass->reference->config.C, T = (size_t)pass->T;
    size_t scores = N * (size_t)pass->reference->config.NH * T;
    return (ReferenceKept){.ln1 = zeros(N * C),
                           .mean1 = zeros(N),
                           .rstd1 = zeros(N),
                           .qkv = zeros(3 * N * C),
                           .probs = zeros(scores),
                           .attention = zeros(N * C),
                           .mid = zeros(N * C),
                           .ln2 = zeros(N * C),
                           .mean2 = zeros(N),
                           .rstd2 = zeros(N),
                           .fc = zeros(4 * N * C),
                           .gelu = zeros(4 * N * C)};
}

static void kept_free(ReferenceKept *kept) {
    double *all[] = {kept->ln1,       kept->mean1, kept->rstd1, kept->qkv,   kept->probs,
                     kept->attention, kept->mid,   kept->ln2,   kept->mean2, kept->rstd2,
                     kept->fc,        kept->gelu,  kept->mask1, kept->mask2};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        free(all[i]);
    }
}

/* out = in + factor * branch */
static void residual(double *out, const double *in, const double *branch, const double *factor,
                     size_t n) {
    for (size_t i = 0; i < n; i++) {
        out[i] = in[i] + factor[i] * branch[i];
    }
}

static void block_forward64(Pass64 *pass, int layer, double *out, const double *in,
                            ReferenceKept *kept) {
    Reference *reference = pass->reference;
    int N = pass->N, C = reference->config.C, NH = reference->config.NH;
    size_t n = (size_t)N * (size_t)C;
    double *branch = zeros(n);
    *kept = kept_new(pass);
    reference_layernorm_forward(kept->ln1, kept->mean1, kept->rstd1, in, W(LN1_WEIGHT), W(LN1_BIAS),
                                N, C);
    reference_matmul_forward(kept->qkv, kept->ln1, W(QKV_WEIGHT), W(QKV_BIAS), N, C, 3 * C);
    reference_attention_forward(kept->attention, kept->probs, kept->qkv, pass->B, pass->T, C, NH);
    reference_matmul_forward(branch, kept->attention, W(PROJ_WEIGHT), W(PROJ_BIAS), N, C, C);
    kept->mask1 = draw_mask(pass);
    residual(kept->mid, in, branch, kept->mask1, n);
    reference_layernorm_forward(kept->ln2, kept->mean2, kept->rstd2, kept->mid, W(LN2_WEIGHT),
                                W(LN2_BIAS), N, C);
    reference_matmul_forward(kept->fc, kept->ln2, W(FC_WEIGHT), W(FC_BIAS), N, C, 4 * C);
    reference_gelu_forward(kept->gelu, kept->fc, 4 * n);
    reference_matmul_forward(branch, kept->gelu, W(FCPROJ_WEIGHT), W(FCPROJ_BIAS), N, 4 * C, C);
    kept->mask2 = draw_mask(pass);
    residual(out, kept->mid, branch, kept->mask2, n);
    free(branch);
}

static double *masked(const double *dx, const double *factor, size_t n) {
    double *result = zeros(n);
    for (size_t i = 0; i < n; i++) {
        result[i] = dx[i] * factor[i];
    }
    return result;
}

/* dx is the gradient of the block's output, and becomes that of its input. */
static void block_backward64(const Pass64 *pass, int layer, double *dx, const double *in,
                             const ReferenceKept *kept) {
    Reference *reference = pass->reference;
    int N = pass->N, C = reference->config.C, NH = reference->config.NH;
    size_t n = (size_t)N * (size_t)C;
    double *dbranch = masked(dx, kept->mask2, n), *dgelu = zeros(4 * n), *dfc = zeros(4 * n);
    double *dln2 = zeros(n), *dattention = zeros(n), *dqkv = zeros(3 * n), *dln1 = zeros(n);
    reference_matmul_backward(dgelu, G(FCPROJ_WEIGHT), G(FCPROJ_BIAS), dbranch, kept->gelu,
                              W(FCPROJ_WEIGHT), N, 4 * C, C);
    reference_gelu_backward(dfc, dgelu, kept->fc, 4 * n);
    reference_matmul_backward(dln2, G(FC_WEIGHT), G(FC_BIAS), dfc, kept->ln2, W(FC_WEIGHT), N, C,
                              4 * C);
    reference_layernorm_backward(dx, G(LN2_WEIGHT), G(LN2_BIAS), dln2, kept->mid, kept->mean2,
                                 kept->rstd2, W(LN2_WEIGHT), N, C);
    seen(reference, dbranch, n), seen(reference, dgelu, 4 * n), seen(reference, dfc, 4 * n);
    seen(reference, dln2, n), seen(reference, dx, n);
    free(dbranch);
    dbranch = masked(dx, kept->mask1, n);
    reference_matmul_backward(dattention, G(PROJ_WEIGHT), G(PROJ_BIAS), dbranch, kept->attention,
                              W(PROJ_WEIGHT), N, C, C);
    reference_attention_backward(dqkv, dattention, kept->probs, kept->qkv, pass->B, pass->T, C, NH);
    reference_matmul_backward(dln1, G(QKV_WEIGHT), G(QKV_BIAS), dqkv, kept->ln1, W(QKV_WEIGHT), N,
                              C, 3 * C);
    reference_layernorm_backward(dx, G(LN1_WEIGHT), G(LN1_BIAS), dln1, in, kept->mean1, kept->rstd1,
                                 W(LN1_WEIGHT), N, C);
    seen(reference, dbranch, n), seen(reference, dattention, n), seen(reference, dqkv, 3 * n);
    seen(reference, dln1, n), seen(reference, dx, n);
    free(dbranch), free(dgelu), free(dfc), free(dln2), free(dattention), free(dqkv), free(dln1);
}

/* Last norm, logits, losses; with dloss != 0 their backward, which sets dx. Returns the loss. */
static double head64(const Pass64 *pass, const Batch *batch, const double *x, double dloss,
                     double *dx) {
    Reference *reference = pass->reference;
    int N = pass->N, C = reference->config.C, V = reference->config.V, layer = -1;
    size_t n = (size_t)N * (size_t)C, logits_count = (size_t)N * (size_t)V;
    double *lnf = zeros(n), *mean = zeros((size_t)N), *rstd = zeros((size_t)N);
    double *logits = zeros(logits_count), *probs = zeros(logits_count), *losses = zeros((size_t)N);
    reference_layernorm_forward(lnf, mean, rstd, x, W(LNF_WEIGHT), W(LNF_BIAS), N, C);
    reference_matmul_forward(logits, lnf, W(WTE), NULL, N, C, V);
    double loss = reference_crossentropy_forward(losses, probs, logits, batch->targets, N, V);
    if (dloss != 0) {
        double *dlogits = zeros(logits_count), *dlnf = zeros(n);
        reference_crossentropy_backward(dlogits, probs, batch->targets, dloss, N, V);
        reference_matmul_backward(dlnf, G(WTE), NULL, dlogits, lnf, W(WTE), N, C, V);
        reference_layernorm_backward(dx, G(LNF_WEIGHT), G(LNF_BIAS), dlnf, x, mean, rstd,
                                     W(LNF_WEIGHT), N, C);
        seen(reference, dlogits, logits_count), seen(reference, dlnf, n), seen(reference, dx, n);
        free(dlogits), free(dlnf);
    }
    free(lnf), free(mean), free(rstd), free(logits), free(probs), free(losses);
    return loss;
}

double reference_pass(Reference *reference, const Batch *batch, double dloss, uint64_t seed,
                      uint64_t offset) {
    int L = reference->config.L, C = reference->config.C, layer = -1;
    Pass64 pass = {.reference = reference,
                   .B = batch->B,
                   .T = batch->T,
                   .N = batch->B * batch->T,
                   .dropout = {.p = reference->config.dropout, .seed = seed, .offset = offset}};
    size_t n = (size_t)pass.N * (size_t)C;
    ReferenceKept *kept = calloc((size_t)L, sizeof *kept);
    double **x = calloc((size_t)L + 1, sizeof *x), *dx = zeros(n);
    CHECK(kept && x, "no memory for %d layers", L);

    x[0] = zeros(n);
    reference_embedding_forward(x[0], batch->tokens, W(WTE), W(WPE), pass.B, pass.T, C);
    double *embedding_mask = draw_mask(&pass);
    for (size_t i = 0; i < n; i++) {
        x[0][i] *= embedding_mask[i];
    }
    for (int l = 0; l < L; l++) {
        x[l + 1] = zeros(n);
        block_forward64(&pass, l, x[l + 1], x[l], &kept[l]);
    }
    double loss = head64(&pass, batch, x[L], dloss, dx);
    for (int l = L - 1; l >= 0; l--) {
        if (dloss != 0) {
            block_backward64(&pass, l, dx, x[l], &kept[l]);
        }
        kept_free(&kept[l]);
    }
    if (dloss != 0) {
        double *dembedding = masked(dx, embedding_mask, n);
        seen(reference, dembedding, n);
        reference_embedding_backward(G(WTE), G(WPE), dembedding, batch->tokens, pass.B, pass.T, C);
        free(dembedding);
    }
    for (int l = 0; l <= L; l++) {
        free(x[l]);
    }
    free(kept), free(x), free(dx), free(embedding_mask);
    return loss;
}

size_t reference_elements(const Reference *reference) {
    size_t elements = 0;
    for (int i = 0; i < reference->param_count; i++) {
        elements += reference->params[i].count;
    }
    return elements;
}

double reference_clip(double norm, double limit) {
    /* The small number is PyTorch's, and the kit's: optimizer.h. */
    return limit > 0 && norm > limit ? limit / (norm + 1e-6) : 1;
}

uint64_t reference_pass_counters(const ModelConfig *config, int N) {
    uint64_t masks = 1 + 2 * (uint64_t)config->L;
    return config->dropout > 0 ? masks * dropout_counters((size_t)N * (size_t)config->C) : 0;
}
