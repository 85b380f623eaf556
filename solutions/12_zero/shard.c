/* Lab 12: who has which numbers, and how many bytes that makes. The contracts are in
   labs/12_zero/contract.h. */
#include <stdlib.h>

#include "common/lab.h"
#include "labs/12_zero/contract.h"

size_t shard_part(size_t length, int ranks) {
    CHECK(length % TENSOR_BLOCK == 0 && ranks >= 1, "%zu numbers for %d ranks", length, ranks);
#ifndef STUB
    size_t step = TENSOR_BLOCK, all = step * (size_t)ranks;
    return (length + all - 1) / all * step;
#else
    TODO("task 1: numbers for each rank, rounded up to what the contract says (2 lines)");
#endif
}

Piece shard_piece(size_t begin, size_t count, size_t part, int rank) {
    Piece piece = {0, 0, 0};
#ifndef STUB
    size_t from = part * (size_t)rank, to = from + part; /* the part, in the unit's flat index */
    size_t end = begin + count;
    size_t low = begin > from ? begin : from, high = end < to ? end : to;
    if (low < high) {
        piece = (Piece){low - begin, high - low, low - from};
    } else {
        piece.at = begin < from ? 0 : part;
    }
#else
    (void)begin, (void)count, (void)part, (void)rank;
    TODO("task 1: where tensor and part overlap, if they do (about 8 lines)");
#endif
    return piece;
}

/* ---- bytes ----------------------------------------------------------------------------------- */

/* The parameters of a model, described; to be freed. */
static Param *describe(const ModelConfig *config) {
    Param *params = calloc((size_t)params_count(config), sizeof *params);
    CHECK(params != NULL, "no memory for %d parameters", params_count(config));
    params_describe(params, config);
    return params;
}

/* Numbers of each rank's part of a unit with these parameters. */
static size_t part_of(const Param *params, int count, int ranks) {
    size_t length = 0;
    for (int i = 0; i < count; i++) {
        length += tensor_indices(params[i].count);
    }
    return shard_part(length, ranks);
}

/* Numbers of its tensors that are a rank's own. */
static size_t pieces_of(const Param *params, int count, int ranks, int rank) {
    size_t part = part_of(params, count, ranks), numbers = 0, begin = 0;
    for (int i = 0; i < count; i++) {
#ifndef STUB
        numbers += shard_piece(begin, params[i].count, part, rank).count;
#else
        (void)part, (void)rank, (void)begin;
        TODO("task 2: how much of tensor i, which begins at `begin`, is the rank's? (1 line)");
#endif
        begin += tensor_indices(params[i].count);
    }
    return numbers;
}

MemoryUse shard_states(const ModelConfig *config, int stage, int ranks, int rank) {
    MemoryUse use = {0};
    Param *params = describe(config), *block = params + MODEL_PARAMS;
    size_t L = (size_t)config->L, R = (size_t)ranks;
    size_t parts = part_of(params, MODEL_PARAMS, ranks) + L * part_of(block, BLOCK_PARAMS, ranks);
    size_t pieces = pieces_of(params, MODEL_PARAMS, ranks, rank) +
                    L * pieces_of(block, BLOCK_PARAMS, ranks, rank);
    size_t master = config->precision == F32 ? 0 : sizeof(float);
    size_t element = precision_bytes(config->precision);
#ifndef STUB
    use.bytes[MEMORY_WEIGHTS] = (stage < 3 ? R : 1) * parts * element;
    use.bytes[MEMORY_GRADIENTS] = (stage < 2 ? R : 1) * parts * sizeof(float);
    use.bytes[MEMORY_OPTIMIZER] = pieces * (2 * sizeof(float) + master);
#else
    (void)stage, (void)R, (void)parts, (void)pieces, (void)master, (void)element;
    TODO("task 2: which of the three are whole, at which stage? (3 lines)");
#endif
    free(params);
    return use;
}

MemoryUse shard_gathered(const ModelConfig *config, int stage, int ranks) {
    MemoryUse use = {0};
    Param *params = describe(config);
    size_t outside = (size_t)ranks * part_of(params, MODEL_PARAMS, ranks);
    size_t block = (size_t)ranks * part_of(params + MODEL_PARAMS, BLOCK_PARAMS, ranks);
#ifndef STUB
    if (stage >= 2) {
        use.bytes[MEMORY_GRADIENTS] = (outside + block) * sizeof(float);
    }
    if (stage == 3) {
        size_t larger = outside > block ? outside : block;
        use.bytes[MEMORY_WEIGHTS] = larger * precision_bytes(config->precision);
    }
#else
    (void)stage, (void)outside, (void)block;
    TODO("task 2: the units that are whole at once, for a while (about 7 lines)");
#endif
    free(params);
    return use;
}

size_t shard_ahead(const ModelConfig *config, int ranks) {
    Param *params = describe(config);
    size_t outside = (size_t)ranks * part_of(params, MODEL_PARAMS, ranks);
    size_t block = (size_t)ranks * part_of(params + MODEL_PARAMS, BLOCK_PARAMS, ranks);
    free(params);
#ifndef STUB
    size_t beside = config->L > 1 && block > outside ? block : outside;
    return (block + beside) * precision_bytes(config->precision);
#else
    (void)outside, (void)block;
    TODO("task 2: of two units that run one after the other (2 lines)");
#endif
}

size_t shard_wire(const ModelConfig *config, int stage, int ranks, int micros) {
    Param *params = describe(config);
    size_t parts = part_of(params, MODEL_PARAMS, ranks) +
                   (size_t)config->L * part_of(params + MODEL_PARAMS, BLOCK_PARAMS, ranks);
    free(params);
#ifndef STUB
    size_t others = (size_t)ranks - 1, element = precision_bytes(config->precision);
    size_t reduced = stage == 1 ? 1 : (size_t)micros;
    size_t gathered = stage < 3 ? 1 : 2 * (size_t)micros;
    return others * parts * (reduced * sizeof(float) + gathered * element);
#else
    (void)parts, (void)stage, (void)micros;
    TODO("task 2: how often are gradients summed, and weights gathered? (about 4 lines)");
#endif
}
