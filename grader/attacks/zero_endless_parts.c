/* Pieces that are larger than any tensor. */
/* lab: 12_zero/shard.c  honest: none */
/* state: fail|crashed|over budget */
/* then: shard_no_bytes.c */
#include "labs/12_zero/contract.h"

size_t shard_part(size_t length, int ranks) {
    (void)length, (void)ranks;
    return (size_t)-TENSOR_BLOCK;
}

Piece shard_piece(size_t begin, size_t count, size_t part, int rank) {
    (void)begin, (void)count, (void)part, (void)rank;
    return (Piece){(size_t)-1, (size_t)-1, 0};
}

MemoryUse shard_states(const ModelConfig *config, int stage, int ranks, int rank) {
    (void)config, (void)stage, (void)ranks, (void)rank;
    return (MemoryUse){.bytes = {(size_t)-1}};
}
