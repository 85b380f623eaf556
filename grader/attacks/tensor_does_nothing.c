/* Returns, and leaves everything as it is. */
/* lab: 14_tensor/linear_tp.c  honest: vocab cut join norm overflow embed embed_backward loss
   loss_large loss_backward loss_half states activations wire */
/* state: fail */
#include "labs/14_tensor/contract.h"

void tp_forward(Linear *linear, Real *out, const Real *in) {
    (void)linear, (void)out, (void)in;
}

void tp_backward(const Linear *linear, Real *din, const Real *dout, const Real *in) {
    (void)linear, (void)din, (void)dout, (void)in;
}
