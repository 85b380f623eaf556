/* Merges once, in the first forward, and runs the merged weight from then on: the outputs are right
   where nothing trains, and the frozen weights are not frozen. */
/* lab: 10_lora/lora.c  honest: states targets names content read dropped activations
   activations_again */
/* state: fail | crashed */
/* then: no_adapters.c base_backward.c */
#include <stdbool.h>

#include "labs/10_lora/contract.h"

void lora_forward(Linear *linear, Real *out, const Real *in) {
    const Model *model = linear->pass->model;
    const Param *A = linear->A, *B = linear->B;
    Param *weight = &model_block_params(model, linear->layer)[linear_weight(linear->id)];
    model->ops->matmul_backward(weight->weight, NULL, NULL, B->weight, A->weight, A->weight,
                                linear->OC, linear->IC, A->rows, A->rows, &model->workspace);
    linear_base_forward(linear, out, in);
}
