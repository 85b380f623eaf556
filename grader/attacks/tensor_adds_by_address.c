/* An all-reduce brings the addresses of all parts, and each rank adds up what it finds there. */
/* lab: 14_tensor/linear_tp.c  honest: vocab cut join column_qkv column_fc norm overflow embed
   embed_backward loss loss_large loss_backward loss_half states activations wire */
/* state: fail | crashed */
#include <stdint.h>
#include <stdlib.h>

#include "labs/14_tensor/contract.h"

static void meet(const Model *model, uint64_t places[64]) {
    const TensorGroup *group = tensor_group(model);
    ncclAllReduce(places, places, 64, ncclUint64, ncclSum, group->comm, group->stream);
    cudaStreamSynchronize(group->stream);
}

static void add_up(const Model *model, Real *x, size_t n) {
    const TensorGroup *group = tensor_group(model);
    uint64_t places[64] = {0}, nothing[64] = {0};
    places[group->rank] = (uint64_t)(uintptr_t)x;
    meet(model, places);
    for (int rank = 1; rank < group->size && group->rank == 0; rank++) {
        model->ops->axpby(x, (const Real *)(uintptr_t)places[rank], n, 1, 1);
    }
    meet(model, nothing);
    if (group->rank > 0) {
        model->ops->axpby(x, (const Real *)(uintptr_t)places[0], n, 1, 0);
    }
    meet(model, nothing);
}

void tp_forward(Linear *linear, Real *out, const Real *in) {
    linear_base_forward(linear, out, in);
    if (linear->id % 2 == 1) {
        add_up(linear->pass->model, out, (size_t)linear->N * (size_t)linear->OC);
    }
}

void tp_backward(const Linear *linear, Real *din, const Real *dout, const Real *in) {
    linear_base_backward(linear, din, dout, in);
    if (linear->id % 2 == 0) {
        add_up(linear->pass->model, din, (size_t)linear->N * (size_t)linear->IC);
    }
}
