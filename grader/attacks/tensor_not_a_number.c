/* Fills every result with a NaN: no limit can be exceeded by one. */
/* lab: 14_tensor/linear_tp.c  honest: vocab cut join norm overflow embed embed_backward loss
   loss_large loss_backward loss_half states activations wire */
/* state: fail */
#include "labs/14_tensor/contract.h"

static void spoil(const Linear *linear, Real *x, size_t n) {
    const Model *model = linear->pass->model;
    device_fill(model->device, x, 0xff, n * precision_bytes(model->config.precision));
}

void tp_forward(Linear *linear, Real *out, const Real *in) {
    (void)in;
    spoil(linear, out, (size_t)linear->N * (size_t)linear->OC);
}

void tp_backward(const Linear *linear, Real *din, const Real *dout, const Real *in) {
    (void)dout, (void)in;
    spoil(linear, din, (size_t)linear->N * (size_t)linear->IC);
}
