/* Lab 10: a frozen linear layer with a low-rank adapter beside it. The contracts are
   in labs/10_lora/contract.h, the layers in common/linear.h. */
#include <math.h>
#include <stdlib.h>

#include "common/lab.h"
#include "labs/10_lora/contract.h"

/* s, which the branch is multiplied by. */
static float branch_scale(const Model *model) {
    (void)model;
    TODO("task 1: how much does the branch count? (about 2 lines)");
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
    if (linear->mask.p > 0) {
        TODO("task 1: the input of the branch, under the mask (about 4 lines)");
    }
    return in;
}

/* u = s * x A^T (N, r), in scratch. */
static Real *thin_forward(const Linear *linear, const Real *x) {
    const Model *model = linear->pass->model;
    int r = linear->A->rows;
    Real *u = scratch(linear, "lora.u", r);
    (void)model, (void)x, (void)branch_scale;
    TODO("task 1: the first product, and the scale (about 4 lines)");
    return u;
}

void lora_forward(Linear *linear, Real *out, const Real *in) {
    Pass *pass = linear->pass;
    linear_base_forward(linear, out, in);
    MemoryMark mark = memory_mark(pass->memory);
    (void)branch_input, (void)thin_forward;
    TODO("task 1: draw the mask, then the two products, and add the branch (about 7 lines)");
    memory_release(pass->memory, mark);
}

void lora_backward(const Linear *linear, Real *din, const Real *dout, const Real *in) {
    const Pass *pass = linear->pass;
    linear_base_backward(linear, din, dout, in);
    MemoryMark mark = memory_mark(pass->memory);
    (void)scratch_zero, (void)din, (void)dout, (void)in;
    TODO("task 2: the gradients of B, of A, and of the input through the branch (about 16 lines)");
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
        (void)rng, (void)sqrtf;
        TODO("task 1: the start of A and of B (about 4 lines)");
        model_upload_weight(model, param, values);
        free(values);
    }
}

/* w (OC, IC) += scale * B A, with a (r, IC) and b (OC, r). */
static void add_product(float *w, const float *a, const float *b, float scale, int IC, int OC,
                        int r) {
    (void)w, (void)a, (void)b, (void)scale, (void)IC, (void)OC, (void)r;
    TODO("task 4: the product that the two matrices stand for (about 8 lines)");
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
