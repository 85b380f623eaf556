/* Gives the bytes of the demo model with rank 8, whatever is asked, and drops nothing. */
/* lab: 10_lora/keep.c  honest: init forward forward_half backward backward_dropout
   backward_half on_the_gpu gradients first_step frozen merge take_out swap merged_logits
   targets names content read again */
/* state: fail | over budget */
#include "labs/10_lora/contract.h"

unsigned lora_dropped(const ModelConfig *config) {
    (void)config;
    return 0;
}

MemoryUse lora_states(const ModelConfig *config) {
    (void)config;
    return (MemoryUse){{3435520, 65536, 131072}};
}

size_t lora_activations(const ModelConfig *config, int B, int T, Checkpoint checkpoint) {
    (void)config, (void)B, (void)T, (void)checkpoint;
    return 33095680;
}
