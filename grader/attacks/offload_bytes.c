/* Knows the bytes of the demo model by heart. */
/* lab: 08_prefetch/predict.c  honest: one_slot pinned slots overlap reuse waits makespan
   end failure stop offload offload_segments offload_memory offload_moved offload_order
   offload_overlap */
/* state: fail */
#include "labs/08_prefetch/contract.h"

size_t prefetch_bytes(int slots, int B, int T) {
    (void)slots, (void)B, (void)T;
    return 8192;
}

double prefetch_time(int batches, int slots, double copy, double work) {
    (void)batches, (void)slots, (void)copy, (void)work;
    return 0;
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
