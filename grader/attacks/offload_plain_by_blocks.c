/* Runs a plain step out of calls that a hand-in may use: the right bits, and nothing moves. */
/* lab: 08_prefetch/offload.c  honest: one_slot pinned slots overlap reuse waits makespan end
   failure stop bytes time hides */
/* state: over budget */
/* then: offload_nothing.c */
#include "common/block.h"
#include "labs/08_prefetch/contract.h"

double offload_forward(Offload *offload, Model *model, const Batch *batch) {
    (void)offload;
    model_begin(model, batch, true);
    Real *x = model_embed(model);
    return model_head_forward(model, model_forward_blocks(&model->pass, 0, model->config.L, x));
}

void offload_backward(Offload *offload, Model *model, float dloss) {
    int L = model->config.L;
    (void)offload;
    model_head_backward(model, model->pass.x[L], dloss);
    model_backward_blocks(&model->pass, 0, L, model->pass.dx);
    model_embed_backward(model);
    model_end(model);
}
