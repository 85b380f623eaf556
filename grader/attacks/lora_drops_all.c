/* Drops every input, so that all bytes are few, and leaves it to backward to find nothing there. */
/* lab: 10_lora/keep.c  honest: init forward forward_half backward backward_dropout
   backward_half on_the_gpu merge take_out swap merged_logits targets names content read gradients
   first_step frozen */
/* state: fail | crashed */
#include "labs/10_lora/contract.h"

unsigned lora_dropped(const ModelConfig *config) {
    (void)config;
    return 15;
}

MemoryUse lora_states(const ModelConfig *config) {
    (void)config;
    return (MemoryUse){0};
}

size_t lora_activations(const ModelConfig *config, int B, int T, Checkpoint checkpoint) {
    (void)config, (void)B, (void)T, (void)checkpoint;
    return 0;
}
