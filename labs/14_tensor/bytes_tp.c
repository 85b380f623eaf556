/* Lab 14: the bytes of a rank, and those that ranks send. The contract is
   in labs/14_tensor/contract.h. */
#include "common/lab.h"
#include "kernels/crossentropy.h"
#include "labs/14_tensor/contract.h"

/* Numbers of all parameters that a rank has. */
static size_t numbers_here(const ModelConfig *config, int ranks, int rank) {
    (void)config, (void)ranks, (void)rank;
    TODO("task 5: the numbers of a rank (about 4 lines)");
}

MemoryUse tp_states(const ModelConfig *config, int ranks, int rank) {
    MemoryUse use = {0};
    size_t numbers = numbers_here(config, ranks, rank);
    (void)numbers, (void)use;
    TODO("task 5: weights, gradients, states (about 4 lines)");
}


size_t tp_activations(const ModelConfig *config, int B, int T, int ranks, int rank,
                      Checkpoint checkpoint) {
    (void)config, (void)B, (void)T, (void)ranks, (void)rank, (void)checkpoint;
    TODO("task 5: the most activation bytes at any one time (about 45 lines, with its parts)");
}

size_t tp_wire_bytes(const ModelConfig *config, int B, int T, int ranks) {
    (void)config, (void)B, (void)T, (void)ranks;
    TODO("task 5: the bytes on the wire (about 3 lines)");
}
