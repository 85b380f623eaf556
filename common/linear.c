/* A linear layer of a block: alone, with an adapter, or in parts. The contract is in linear.h. */
#include "common/linear.h"

static const Param *params_of_linear(const Linear *linear) {
    return model_block_params(linear->pass->model, linear->layer) + linear_weight(linear->id);
}

Linear linear_of(Pass *pass, int layer, LinearId id) {
    const Model *model = pass->model;
    const Param *weight = model_block_params(model, layer) + linear_weight(id);
    const Param *adapter = model_adapter(model, layer, id);
    return (Linear){.pass = pass,
                    .layer = layer,
                    .id = id,
                    .N = pass->B * pass->T,
                    .IC = weight->cols,
                    .OC = weight->rows,
                    .A = adapter,
                    .B = adapter != NULL ? adapter + 1 : NULL};
}

/* The bias of the first layer of the MLP is added by GELU. */
static const Real *bias_of(const Linear *linear) {
    return linear->id == LINEAR_FC ? NULL : param_weight(params_of_linear(linear) + 1);
}

bool linear_is_joined(const Linear *linear) {
    const Model *model = linear->pass->model;
    CHECK(model->part.shards == 1 || model->linear_forward != NULL,
          "each of %d ranks has a part of the block: set model->linear_forward",
          model->part.shards);
    return model->linear_forward != NULL && (linear->A != NULL || model->part.shards > 1);
}

void linear_base_forward(const Linear *linear, Real *out, const Real *in) {
    const Model *model = linear->pass->model;
    model->ops->matmul_forward(out, in, param_weight(params_of_linear(linear)), bias_of(linear),
                               linear->N, linear->IC, linear->OC, linear->OC, &model->workspace);
}

static void base_backward(const Linear *linear, matmul_backward_fn *op, Real *din, const Real *dout,
                          const Real *in) {
    const Param *weight = params_of_linear(linear), *bias = weight + 1;
    CHECK(in != NULL || weight->frozen, "\"%s\" is trained: its input is needed", weight->name);
    op(din, param_grad(weight), param_grad(bias), dout, in, param_weight(weight), linear->N,
       linear->IC, linear->OC, linear->OC, &linear->pass->model->workspace);
}

void linear_base_backward(const Linear *linear, Real *din, const Real *dout, const Real *in) {
    base_backward(linear, linear->pass->model->ops->matmul_backward, din, dout, in);
}

void linear_forward(Linear *linear, Real *out, const Real *in) {
    const Model *model = linear->pass->model;
    if (linear_is_joined(linear)) {
        model->linear_forward(linear, out, in);
    } else {
        linear_base_forward(linear, out, in);
    }
}

void linear_backward(const Linear *linear, Real *din, const Real *dout, const Real *in) {
    const Model *model = linear->pass->model;
    if (linear_is_joined(linear)) {
        CHECK(in != NULL || linear->A == NULL,
              "the input of \"%s\" is gone, and its adapter needs it", linear->A->name);
        size_t n = (size_t)linear->N * (size_t)linear->IC;
        device_fill(model->device, din, 0, n * precision_bytes(model->config.precision));
        model->linear_backward(linear, din, dout, in);
    } else {
        base_backward(linear, model->ops->matmul_backward_first, din, dout, in);
    }
}
