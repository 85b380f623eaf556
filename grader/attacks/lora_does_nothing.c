/* Runs the frozen layer alone: with fresh adapters the logits are right, and nothing changes. */
/* lab: 10_lora/lora.c  honest: states targets names content read dropped activations
   activations_again budget */
/* state: fail */
#include "labs/10_lora/contract.h"

void lora_init(Model *model, uint64_t seed) {
    (void)model, (void)seed;
}

void lora_merge(Model *model, float sign) {
    (void)model, (void)sign;
}

void lora_forward(Linear *linear, Real *out, const Real *in) {
    linear_base_forward(linear, out, in);
}

void lora_backward(const Linear *linear, Real *din, const Real *dout, const Real *in) {
    linear_base_backward(linear, din, dout, in);
}
