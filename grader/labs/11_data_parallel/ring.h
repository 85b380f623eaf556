/**
 * @file ring.h
 * @brief The judge's part of lab 11, task 1: arrays that go around a ring.
 * @ingroup grader
 */
#ifndef GRADER_LABS_11_DATA_PARALLEL_RING_H
#define GRADER_LABS_11_DATA_PARALLEL_RING_H

#include "grader/judge_ranks.h"
#include "grader/labs/11_data_parallel/protocol.h"

enum { MOST_ARRAYS = 8 };

/** Arrays of each rank, and what is right. */
typedef struct RingTrial {
    Check *check;
    int ranks, arrays;
    bool parted; /**< the last array goes around a ring of rank 0 and one of the others, too */
    int32_t count[MOST_ARRAYS];
    float *x[MOST_ARRAYS]; /**< (ranks, count) */
} RingTrial;

/** No arrays yet. */
RingTrial ring_trial(Check *check, int ranks);

/** One more: normal numbers of all magnitudes, or with `whole` small whole ones. */
void ring_add(RingTrial *trial, int count, bool whole);

/** Runs it, on simulated GPUs or on the CPU. @return whether it ran, and nothing was reported */
bool ring_run(RingTrial *trial, bool gpu);

/** Each array on each rank, bit by bit, in the order of the ring; and the scratch asked for.
    @return whether all is right */
bool ring_expect_sums(const RingTrial *trial);

/** The last array after a ring of rank 0 and one of the others. */
void ring_expect_parted(const RingTrial *trial);

/** Calls and bytes: sends and receives alone, each rank's by formula. */
void ring_expect_sent(const RingTrial *trial);

/** Bytes that a rank sends. */
size_t ring_right_bytes(size_t count, int rank, int ranks);

#endif
