/**
 * @file cut.h
 * @brief Who has which numbers, worked out for the judge and the kit's own program. The probe with
 * the submission does not have it.
 * @ingroup grader
 */
#ifndef GRADER_LABS_12_ZERO_CUT_H
#define GRADER_LABS_12_ZERO_CUT_H

#include "common/params.h"
#include "grader/labs/12_zero/term.h"
#include "kernels/tensors.h"

/** Parameters of the unit that parameter i belongs to begin here. */
static inline int cut_first(int i) {
    return i < MODEL_PARAMS ? 0 : MODEL_PARAMS + (i - MODEL_PARAMS) / BLOCK_PARAMS * BLOCK_PARAMS;
}

/** And the next unit's begin here. */
static inline int cut_end(int i) {
    return cut_first(i) + (i < MODEL_PARAMS ? MODEL_PARAMS : BLOCK_PARAMS);
}

/** Blocks that the parameters from `from` to the one before `to` take. */
static inline size_t cut_blocks(const Param *params, int from, int to) {
    size_t own = from < to ? (params[from].count + TENSOR_BLOCK - 1) / TENSOR_BLOCK : 0;
    return from < to ? own + cut_blocks(params, from + 1, to) : 0;
}

/** Blocks of each part of a unit, a multiple of `step`. */
static inline uint64_t cut_share(uint64_t blocks, uint64_t ranks, uint64_t step) {
    uint64_t most = blocks / ranks + (blocks % ranks != 0);
    return most + (step - most % step) % step;
}

/** Numbers of a rank's part of the unit of parameter i. */
static inline size_t cut_part(const Param *params, int i, int ranks) {
    size_t blocks = cut_blocks(params, cut_first(i), cut_end(i));
    return cut_share(blocks, (size_t)ranks, TERM_PART_IS) * TENSOR_BLOCK;
}

/** The rank that number j of parameter i belongs to. */
static inline int cut_owner(const Param *params, int i, size_t j, int ranks) {
    size_t begin = cut_blocks(params, cut_first(i), i) * TENSOR_BLOCK;
    return (int)((begin + j) / cut_part(params, i, ranks));
}

#endif
