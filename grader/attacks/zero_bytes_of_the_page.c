/* The bytes of the model in the lab's page, whatever is asked. */
/* lab: 12_zero/shard.c  honest: parts pieces stage1 stage1_window stage1_bytes stage2
   stage2_window stage2_bytes stage3 stage3_bytes stage3_twice norm overflow overflow_bf16 generate
   generate_whole prefetch prefetch_bytes prefetch_overlap */
/* state: fail */
/* then: shard_no_bytes.c */
#include "labs/12_zero/contract.h"

size_t shard_part(size_t length, int ranks) {
    size_t step = TENSOR_BLOCK, all = step * (size_t)ranks;
    return (length + all - 1) / all * step;
}

Piece shard_piece(size_t begin, size_t count, size_t part, int rank) {
    size_t from = part * (size_t)rank, to = from + part, end = begin + count;
    size_t low = begin > from ? begin : from, high = end < to ? end : to;
    return low < high     ? (Piece){low - begin, high - low, low - from}
           : begin < from ? (Piece){0, 0, 0}
                          : (Piece){0, 0, part};
}

MemoryUse shard_states(const ModelConfig *config, int stage, int ranks, int rank) {
    (void)config, (void)stage, (void)ranks, (void)rank;
    return (MemoryUse){.bytes = {3395584, 848896, 1684992}};
}
