/* Knows the loss of the demo model by heart. */
/* lab: 08_prefetch/offload.c  honest: one_slot pinned slots overlap reuse waits makespan end
   failure stop time bytes hides */
/* state: fail | crashed */
/* then: offload_nothing.c */
#include "labs/08_prefetch/contract.h"

double offload_forward(Offload *offload, Model *model, const Batch *batch) {
    (void)offload, (void)model, (void)batch;
    return 5.545177;
}

void offload_backward(Offload *offload, Model *model, float dloss) {
    (void)offload, (void)model, (void)dloss;
}
