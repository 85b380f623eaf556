/* Collects the whole matrix on every rank, and needs no sums. */
/* lab: 14_tensor/linear_tp.c  honest: none */
/* state: build error */
#include "labs/14_tensor/contract.h"

void tp_forward(Linear *linear, Real *out, const Real *in) {
    const Model *model = linear->pass->model;
    const TensorGroup *group = tensor_group(model);
    const Param *weight = model_block_params(model, linear->layer) + linear_weight(linear->id);
    (void)out, (void)in;
    ncclAllGather(weight->weight, weight->weight, weight->count, ncclFloat, group->comm,
                  group->stream);
}

void tp_backward(const Linear *linear, Real *din, const Real *dout, const Real *in) {
    (void)linear, (void)din, (void)dout, (void)in;
}
