/* Lab 10: a frozen linear layer with a low-rank adapter beside it. The contracts are
   in labs/10_lora/contract.h, the layers in common/linear.h. */
#include <math.h>
#include <stdlib.h>

#include "common/lab.h"
#include "labs/10_lora/contract.h"

/* s, which the branch is multiplied by. */
static float branch_scale(const Model *model) {
#ifndef STUB
    const Adapter *adapter = &model->config.adapter;
    return adapter->alpha / (float)adapter->rank;
#else
    (void)model;
    TODO("task 1: how much does the branch count? (about 2 lines)");
#endif
}

/* ---- scratch: on top of the stack while a layer runs ----------------------------------------- */

/* Rows of activations, `width` numbers each. */
static Real *scratch(const Linear *linear, const char *name, int width) {
    const Pass *pass = linear->pass;
    size_t n = (size_t)linear->N * (size_t)width;
    return memory_alloc(pass->memory, MEMORY_ACTIVATIONS, name, linear->layer,
                        n * precision_bytes(pass->model->config.precision));
}

/* The same with zeros, where a backward will add. */
static Real *scratch_zero(const Linear *linear, const char *name, int width) {
    const Pass *pass = linear->pass;
    size_t n = (size_t)linear->N * (size_t)width;
    return memory_alloc_zero(pass->memory, MEMORY_ACTIVATIONS, name, linear->layer,
                             n * precision_bytes(pass->model->config.precision));
}

/* ---- the branch ------------------------------------------------------------------------------ */

/* The input of the branch: under linear->mask, in scratch; `in` itself where none was drawn. */
static const Real *branch_input(const Linear *linear, const Real *in) {
#ifndef STUB
    if (linear->mask.p == 0) {
        return in;
    }
    Real *x = scratch(linear, "lora.in", linear->IC);
    linear->pass->model->ops->dropout_forward(x, in, (size_t)linear->N * (size_t)linear->IC,
                                              linear->mask);
    return x;
#else
    if (linear->mask.p > 0) {
        TODO("task 1: the input of the branch, under the mask (about 4 lines)");
    }
    return in;
#endif
}

/* u = s * x A^T (N, r), in scratch. */
static Real *thin_forward(const Linear *linear, const Real *x) {
    const Model *model = linear->pass->model;
    int r = linear->A->rows;
    Real *u = scratch(linear, "lora.u", r);
#ifndef STUB
    model->ops->matmul_forward(u, x, param_weight(linear->A), NULL, linear->N, linear->IC, r, r,
                               &model->workspace);
    size_t n = (size_t)linear->N * (size_t)r;
    model->ops->axpby(u, u, n, branch_scale(model), 0);
    return u;
#else
    (void)model, (void)x, (void)branch_scale;
    TODO("task 1: the first product, and the scale (about 4 lines)");
    return u;
#endif
}

void lora_forward(Linear *linear, Real *out, const Real *in) {
    Pass *pass = linear->pass;
    linear_base_forward(linear, out, in);
    MemoryMark mark = memory_mark(pass->memory);
#ifndef STUB
    const Model *model = pass->model;
    int N = linear->N, OC = linear->OC, r = linear->A->rows;
    linear->mask =
        pass_draw_mask(pass, (size_t)N * (size_t)linear->IC, model->config.adapter.dropout);
    Real *u = thin_forward(linear, branch_input(linear, in));
    Real *branch = scratch(linear, "lora.branch", OC);
    model->ops->matmul_forward(branch, u, param_weight(linear->B), NULL, N, r, OC, OC,
                               &model->workspace);
    /* out += branch */
    model->ops->axpby(out, branch, (size_t)N * (size_t)OC, 1, 1);
#else
    (void)branch_input, (void)thin_forward;
    TODO("task 1: draw the mask, then the two products, and add the branch (about 7 lines)");
#endif
    memory_release(pass->memory, mark);
}

void lora_backward(const Linear *linear, Real *din, const Real *dout, const Real *in) {
    const Pass *pass = linear->pass;
    linear_base_backward(linear, din, dout, in);
    MemoryMark mark = memory_mark(pass->memory);
#ifndef STUB
    const Model *model = pass->model;
    const Ops *ops = model->ops;
    const Param *A = linear->A, *B = linear->B;
    int N = linear->N, IC = linear->IC, OC = linear->OC, r = A->rows;
    const Real *x = branch_input(linear, in);
    const Real *u = thin_forward(linear, x);
    Real *du = scratch_zero(linear, "lora.du", r);
    /* du = dout B, dB += dout^T u: u has the scale already */
    ops->matmul_backward(du, param_grad(B), NULL, dout, u, param_weight(B), N, r, OC, OC,
                         &model->workspace);
    ops->axpby(du, du, (size_t)N * (size_t)r, branch_scale(model), 0);
    /* dA += du^T x */
    ops->matmul_backward(NULL, param_grad(A), NULL, du, x, param_weight(A), N, IC, r, r,
                         &model->workspace);
    if (linear->mask.p == 0) {
        ops->matmul_backward(din, NULL, NULL, du, x, param_weight(A), N, IC, r, r,
                             &model->workspace);
    } else { /* dx = du A takes the place of x, which has served */
        Real *dx = (Real *)(uintptr_t)x;
        device_fill(model->device, dx, 0,
                    (size_t)N * (size_t)IC * precision_bytes(model->config.precision));
        ops->matmul_backward(dx, NULL, NULL, du, NULL, param_weight(A), N, IC, r, r,
                             &model->workspace);
        ops->dropout_backward(din, dx, (size_t)N * (size_t)IC, linear->mask);
    }
#else
    (void)scratch_zero, (void)din, (void)dout, (void)in;
    TODO("task 2: the gradients of B, of A, and of the input through the branch (about 16 lines)");
#endif
    memory_release(pass->memory, mark);
}

/* ---- all adapters of a model ----------------------------------------------------------------- */

static float *host_room(size_t n) {
    float *values = malloc(n * sizeof *values);
    CHECK(values != NULL, "no host memory for %zu floats", n);
    return values;
}

void lora_init(Model *model, uint64_t seed) {
    Rng rng = rng_new(seed, RNG_ADAPTERS);
    /* A and B take turns: model->params[0] is the first A */
    for (int i = 0; i < model->param_count; i++) {
        Param *param = &model->params[i];
        float *values = host_room(param->count);
#ifndef STUB
        float bound = 1 / sqrtf((float)param->cols);
        for (size_t j = 0; j < param->count; j++) {
            values[j] = i % 2 == 0 ? (2 * rng_uniform(&rng) - 1) * bound : 0;
        }
#else
        (void)rng, (void)sqrtf;
        TODO("task 1: the start of A and of B (about 4 lines)");
#endif
        model_upload_weight(model, param, values);
        free(values);
    }
}

/* w (OC, IC) += scale * B A, with a (r, IC) and b (OC, r). */
static void add_product(float *w, const float *a, const float *b, float scale, int IC, int OC,
                        int r) {
#ifndef STUB
    for (int o = 0; o < OC; o++) {
        for (int c = 0; c < IC; c++) {
            double sum = 0;
            for (int k = 0; k < r; k++) {
                sum += (double)b[o * r + k] * (double)a[(size_t)k * (size_t)IC + (size_t)c];
            }
            w[(size_t)o * (size_t)IC + (size_t)c] += (float)((double)scale * sum);
        }
    }
#else
    (void)w, (void)a, (void)b, (void)scale, (void)IC, (void)OC, (void)r;
    TODO("task 4: the product that the two matrices stand for (about 8 lines)");
#endif
}

void lora_merge(Model *model, float sign) {
    float scale = sign * branch_scale(model);
    for (int at = 0; at < model->config.L * BLOCK_LINEARS; at++) {
        int layer = at / BLOCK_LINEARS;
        LinearId id = (LinearId)(at % BLOCK_LINEARS);
        const Param *A = model_adapter(model, layer, id);
        if (A == NULL) {
            continue;
        }
        const Param *B = A + 1;
        Param *W = &model_block_params(model, layer)[linear_weight(id)];
        float *a = host_room(A->count), *b = host_room(B->count), *w = host_room(W->count);
        model_download_weight(model, A, a);
        model_download_weight(model, B, b);
        model_download_weight(model, W, w);
        add_product(w, a, b, scale, W->cols, W->rows, A->rows);
        model_upload_weight(model, W, w);
        free(a);
        free(b);
        free(w);
    }
}
