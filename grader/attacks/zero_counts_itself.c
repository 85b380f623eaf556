/* Counts the bytes of a model that it makes. */
/* lab: 12_zero/shard.c  honest: none */
/* state: build error */
/* then: shard_no_bytes.c */
#include "labs/12_zero/contract.h"

size_t shard_part(size_t length, int ranks) {
    return length / (size_t)ranks;
}

Piece shard_piece(size_t begin, size_t count, size_t part, int rank) {
    (void)begin, (void)part, (void)rank;
    return (Piece){0, count, 0};
}

MemoryUse shard_states(const ModelConfig *config, int stage, int ranks, int rank) {
    (void)config, (void)stage, (void)ranks, (void)rank;
    Memory *memory = memory_new(device_cpu_new(0), (MemoryOptions){0});
    model_new_zero(config, memory);
    return memory_now(memory);
}
