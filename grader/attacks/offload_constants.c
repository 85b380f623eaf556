/* Knows the answers for the demo model by heart. */
/* lab: 08_prefetch/offload.c  honest: one_slot pinned slots overlap reuse waits makespan
   end failure stop time */
/* state: fail | crashed */
#include "labs/08_prefetch/contract.h"

Offload *offload_open(const ModelConfig *config, int B, int T, int segment) {
    (void)config, (void)B, (void)T, (void)segment;
    return NULL;
}

void offload_close(Offload *offload) {
    (void)offload;
}

double offload_forward(Offload *offload, Model *model, const Batch *batch) {
    (void)offload, (void)model, (void)batch;
    return 5.545177;
}

void offload_backward(Offload *offload, Model *model, float dloss) {
    (void)offload, (void)model, (void)dloss;
}

size_t offload_bytes(const ModelConfig *config, int B, int T, int segment) {
    (void)config, (void)B, (void)T, (void)segment;
    return 428032;
}

size_t offload_moved(const ModelConfig *config, int B, int T, int segment) {
    (void)config, (void)B, (void)T, (void)segment;
    return 98304;
}

bool offload_hides(const ModelConfig *config, int T, int segment, double bus, double rate) {
    (void)config, (void)T, (void)segment, (void)bus, (void)rate;
    return false;
}
