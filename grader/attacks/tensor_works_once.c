/* Right in the first pass of a run, and then nothing: all ranks have the same, which is 0. */
/* lab: 14_tensor/linear_tp.c  honest: vocab cut join column_qkv column_fc row column_backward
   row_backward half on_the_gpu norm overflow embed embed_backward loss loss_large loss_backward
   loss_half calls memory states activations wire */
/* state: fail */
#include "labs/14_tensor/contract.h"

static bool over; /* the first backward has come to the first layer */

static void sum_over_ranks(const Model *model, Real *x, size_t n) {
    const TensorGroup *group = tensor_group(model);
    ncclAllReduce(x, x, n, tensor_type(model), ncclSum, group->comm, group->stream);
    if (model->device->host_memory) {
        cudaStreamSynchronize(group->stream);
    }
}

void tp_forward(Linear *linear, Real *out, const Real *in) {
    const Model *model = linear->pass->model;
    const Param *weight = model_block_params(model, linear->layer) + linear_weight(linear->id);
    bool column = linear->id == LINEAR_QKV || linear->id == LINEAR_FC;
    bool adds = column ? linear->id != LINEAR_FC : tensor_group(model)->rank == 0;
    size_t n = (size_t)linear->N * (size_t)linear->OC;
    if (over) {
        device_fill(model->device, out, 0, n * precision_bytes(model->config.precision));
        return;
    }
    model->ops->matmul_forward(out, in, param_weight(weight),
                               adds ? param_weight(weight + 1) : NULL, linear->N, linear->IC,
                               linear->OC, linear->OC, &model->workspace);
    if (!column) {
        sum_over_ranks(model, out, n);
    }
}

void tp_backward(const Linear *linear, Real *din, const Real *dout, const Real *in) {
    const Model *model = linear->pass->model;
    const Param *weight = model_block_params(model, linear->layer) + linear_weight(linear->id);
    if (over) {
        return;
    }
    model->ops->matmul_backward(din, param_grad(weight), param_grad(weight + 1), dout, in,
                                param_weight(weight), linear->N, linear->IC, linear->OC, linear->OC,
                                &model->workspace);
    if (linear->id == LINEAR_QKV || linear->id == LINEAR_FC) {
        sum_over_ranks(model, din, (size_t)linear->N * (size_t)linear->IC);
    }
    over = linear->layer == 0 && linear->id == LINEAR_QKV;
}
