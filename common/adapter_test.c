/* A model with adapters before anybody knows how they run: what is frozen, what is trained, what is
   dropped, and the files. */
#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/block.h"
#include "common/testkit/fixture.h"
#include "common/testkit/scratch.h"
#include "common/weights.h"

static const ModelConfig shape = {
    .V = 259, .T = 9, .L = 3, .NH = 3, .C = 15, .adapter = {.rank = 2, .targets = 9, .alpha = 4}};

static const int32_t ids[] = {7, 3, 200, 11, 5, 9, 100, 33, 258, 1, 0, 4, 4, 90, 17, 2};
static const Batch some = {.B = 2, .T = 8, .tokens = ids, .targets = ids, .valid = 16};

/* A model on its own device and memory. */
typedef struct OwnModel {
    Device *device;
    Memory *memory;
    Model *model;
} OwnModel;

static OwnModel own_open(const ModelConfig *config) {
    OwnModel own = {.device = device_cpu_new(0)};
    own.memory = memory_new(own.device, (MemoryOptions){.checked = true});
    own.model = model_new(config, own.memory, 5);
    return own;
}

static void own_close(OwnModel *own) {
    model_free(own->model);
    memory_free(own->memory);
    device_free(own->device);
}

Test(adapter, only_adapters_have_gradients_and_states) {
    OwnModel own = own_open(&shape);
    const Model *model = own.model;
    Optimizer *optimizer = optimizer_new(own.model, (AdamW){.beta1 = 0.9f, .beta2 = 0.9f});
    MemoryUse use = memory_now(own.memory);
    /* A and B of c_attn (15 to 45) and of mlp.c_proj (60 to 15), in three blocks */
    size_t trained = 3 * 2 * (15 + 45 + 60 + 15), base = 0;
    for (int i = 0; i < model->base_count; i++) {
        base += model->base[i].count;
        cr_expect(model->base[i].frozen && model->base[i].grad == NULL);
        cr_expect_null(param_grad(&model->base[i]));
    }
    cr_expect_eq(model->param_count, 12);
    cr_expect_eq(model_param_elements(model), trained);
    cr_expect_eq(use.bytes[MEMORY_WEIGHTS], 4 * (base + trained));
    cr_expect_eq(use.bytes[MEMORY_GRADIENTS], 4 * trained);
    cr_expect_eq(use.bytes[MEMORY_OPTIMIZER], 8 * trained);
    cr_expect_eq(use.bytes[MEMORY_WORKSPACE], workspace_bytes(&shape, own.device));
    optimizer_free(optimizer);
    own_close(&own);
}

Test(adapter, is_found_by_layer_and_name) {
    OwnModel own = own_open(&shape);
    const Param *A = model_adapter(own.model, 2, LINEAR_FCPROJ);
    cr_expect_null(model_adapter(own.model, 1, LINEAR_PROJ));
    cr_expect_null(model_adapter(own.model, 1, LINEAR_FC));
    cr_expect_str_eq(A->name, "mlp.c_proj.lora_A.weight");
    cr_expect_str_eq(A[1].name, "mlp.c_proj.lora_B.weight");
    cr_expect(A->layer == 2 && A->rows == 2 && A->cols == 60);
    cr_expect(A[1].layer == 2 && A[1].rows == 15 && A[1].cols == 2);
    cr_expect_eq(A, &own.model->params[10]);
    own_close(&own);
}

/* The frozen model is the model, to the bit; what is dropped makes no difference either. */
Test(adapter, frozen_and_dropped_leave_the_loss) {
    ModelConfig bare = shape;
    bare.adapter = (Adapter){0};
    bare.dropout = 0.2f;
    ModelConfig adapted = bare;
    adapted.adapter = shape.adapter;
    OwnModel a = own_open(&bare), b = own_open(&adapted), c = own_open(&adapted);
    c.model->dropped = (1u << BLOCK_LINEARS) - 1;
    double loss = model_forward(a.model, &some);
    cr_expect_eq(loss, model_forward(b.model, &some));
    cr_expect_eq(loss, model_forward(c.model, &some));
    size_t kept = memory_now(b.memory).bytes[MEMORY_ACTIVATIONS];
    size_t left = memory_now(c.memory).bytes[MEMORY_ACTIVATIONS];
    cr_expect_eq(kept - left, 3 * 16 * 7 * 15 * sizeof(float), "7 C of each token of each block");
    model_backward(b.model, 1);
    model_backward(c.model, 1);
    cr_expect_eq(a.model->rng.offset, c.model->rng.offset);
    own_close(&a);
    own_close(&b);
    own_close(&c);
}

/* Hooks that say what they were given, and add nothing. */
static int forwards, backwards;
static Dropout drawn, seen;

static void hook_forward(Linear *linear, Real *out, const Real *in) {
    linear_base_forward(linear, out, in);
    linear->mask = pass_draw_mask(linear->pass, 10, 0.5f);
    drawn = linear->mask;
    forwards++;
}

static void hook_backward(const Linear *linear, Real *din, const Real *dout, const Real *in) {
    const float *numbers = (const void *)din; /* the model is in f32 */
    for (int i = 0; i < linear->N * linear->IC; i++) {
        cr_assert(numbers[i] == 0, "din has %g", (double)numbers[i]);
    }
    linear_base_backward(linear, din, dout, in);
    seen = backwards++ == 0 ? linear->mask : seen;
    cr_expect_not_null(in);
}

/* Layers with an adapter, and no others; backward gets the mask that forward drew. */
Test(adapter, layers_with_an_adapter_go_through_the_hook) {
    OwnModel own = own_open(&shape);
    own.model->linear_forward = hook_forward;
    own.model->linear_backward = hook_backward;
    own.model->dropped = 6;
    model_forward(own.model, &some);
    model_backward(own.model, 1);
    cr_expect_eq(forwards, 6);
    cr_expect_eq(backwards, 6);
    cr_expect(seen.p > 0 && seen.offset == drawn.offset, "the last forward is the first backward");
    own_close(&own);
}

/* A block that runs again for its backward alone: a hook draws from the same place as before. */
Test(adapter, hooks_run_where_the_output_is_not_wanted) {
    OwnModel own = own_open(&shape);
    Model *model = own.model;
    model->linear_forward = hook_forward;
    model_begin(model, &some, true);
    const Real *in = model_embed(model);
    Real *out = model_boundary(model, 0);
    Rng before = model->rng;
    Block first = block_alloc(model, 0), again = block_alloc(model, 0);
    block_forward(model, 0, out, in, &first);
    Rng after = model->rng;
    model->rng = before;
    block_forward(model, 0, NULL, in, &again);
    cr_expect_eq(forwards, 4);
    cr_expect(model->rng.offset == after.offset && after.offset > before.offset);
    for (int id = 0; id < BLOCK_LINEARS; id++) {
        cr_expect_eq(again.adapter_dropout[id].offset, first.adapter_dropout[id].offset);
        cr_expect_eq(again.adapter_dropout[id].p, first.adapter_dropout[id].p);
    }
    model_end(model);
    own_close(&own);
}

static const char *plain_name(const Param *param, char *text) {
    snprintf(text, PARAM_NAME, "%d.%s", param->layer, param->name);
    return text;
}

static void fill(Model *model) {
    for (int i = 0; i < model->param_count; i++) {
        float values[200];
        for (size_t j = 0; j < model->params[i].count; j++) {
            values[j] = (float)i + (float)j / 256;
        }
        model_upload_weight(model, &model->params[i], values);
    }
}

Test(adapter, files_come_back_and_others_are_refused, .init = cr_redirect_stderr) {
    scratch_folder();
    OwnModel own = own_open(&shape), other = own_open(&shape);
    Model *model = own.model, *to = other.model;
    const char *path = scratch_path("a.safetensors"), *base = scratch_path("m.safetensors");
    fill(model);
    cr_assert_eq(params_save(model, model->params, model->param_count, plain_name, path), 0);
    cr_assert_eq(params_load(to, to->params, to->param_count, plain_name, path), 0);
    for (int i = 0; i < model->param_count; i++) {
        size_t bytes = model->params[i].count * sizeof(float);
        cr_expect_arr_eq((char *)to->params[i].weight, (char *)model->params[i].weight, bytes);
    }
    /* one too many in the file; one too few */
    cr_expect_eq(params_load(to, to->params, 11, plain_name, path), -1);
    cr_assert_eq(params_save(model, model->params, 11, plain_name, path), 0);
    cr_expect_eq(params_load(to, to->params, 12, plain_name, path), -1);
    /* the model's own file has no adapters in it */
    cr_assert_eq(weights_save(model, base), 0);
    cr_expect_eq(weights_load(to, base), 0);
    cr_expect_eq(params_load(to, to->params, 12, plain_name, base), -1);
    own_close(&own);
    own_close(&other);
    scratch_remove();
}
