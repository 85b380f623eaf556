/* Has no branch: it moves the frozen weight itself by the gradient, where it can reach it. */
/* lab: 10_lora/lora.c  honest: states targets names content read dropped activations
   activations_again */
/* state: fail | crashed */
/* then: no_adapters.c base_forward.c */
#include "labs/10_lora/contract.h"

void lora_backward(const Linear *linear, Real *din, const Real *dout, const Real *in) {
    const Model *model = linear->pass->model;
    Param *weight = &model_block_params(model, linear->layer)[linear_weight(linear->id)];
    linear_base_backward(linear, din, dout, in);
    model->ops->matmul_backward(NULL, (float *)weight->weight, NULL, dout, in, weight->weight,
                                linear->N, linear->IC, linear->OC, linear->OC, &model->workspace);
}
