/* Runs the kit's plain step, which has the right bits, and moves nothing. */
/* lab: 08_prefetch/offload.c  honest: none */
/* state: build error */
#include "labs/08_prefetch/contract.h"

Offload *offload_open(const ModelConfig *config, int B, int T, int segment) {
    (void)config, (void)B, (void)T, (void)segment;
    return NULL;
}

void offload_close(Offload *offload) {
    (void)offload;
}

double offload_forward(Offload *offload, Model *model, const Batch *batch) {
    (void)offload;
    return model_forward(model, batch);
}

void offload_backward(Offload *offload, Model *model, float dloss) {
    (void)offload;
    model_backward(model, dloss);
}

size_t offload_bytes(const ModelConfig *config, int B, int T, int segment) {
    (void)config, (void)B, (void)T, (void)segment;
    return 0;
}

size_t offload_moved(const ModelConfig *config, int B, int T, int segment) {
    (void)config, (void)B, (void)T, (void)segment;
    return 0;
}

bool offload_hides(const ModelConfig *config, int T, int segment, double bus, double rate) {
    (void)config, (void)T, (void)segment, (void)bus, (void)rate;
    return true;
}
