/* Rank 0 waits for ranks that have gone on without it. */
/* lab: 14_tensor/linear_tp.c  honest: vocab cut join norm overflow embed embed_backward loss
   loss_large loss_backward loss_half states activations wire */
/* state: fail | crashed */
#include "labs/14_tensor/contract.h"

static void wait_forever(const Linear *linear, Real *x) {
    const TensorGroup *group = tensor_group(linear->pass->model);
    if (group->rank == 0) {
        ncclAllReduce(x, x, 1, ncclUint8, ncclSum, group->comm, group->stream);
        cudaStreamSynchronize(group->stream);
    }
}

void tp_forward(Linear *linear, Real *out, const Real *in) {
    (void)in;
    wait_forever(linear, out);
}

void tp_backward(const Linear *linear, Real *din, const Real *dout, const Real *in) {
    (void)dout, (void)in;
    wait_forever(linear, din);
}
