/* Every rank has all of it: nothing is shared, and all weights are right. */
/* lab: 12_zero/shard.c  honest: generate generate_whole */
/* state: fail|crashed|over budget */
/* then: shard_no_bytes.c */
#include "labs/12_zero/contract.h"

size_t shard_part(size_t length, int ranks) {
    (void)ranks;
    return length;
}

Piece shard_piece(size_t begin, size_t count, size_t part, int rank) {
    (void)part, (void)rank;
    return (Piece){0, count, begin};
}

MemoryUse shard_states(const ModelConfig *config, int stage, int ranks, int rank) {
    (void)config, (void)stage, (void)ranks, (void)rank;
    return (MemoryUse){0};
}
