/**
 * @file sums.h
 * @brief The judge's part of lab 11, tasks 3 and 4: windows of ranks whose gradients are summed.
 * @ingroup grader
 */
#ifndef GRADER_LABS_11_DATA_PARALLEL_SUMS_H
#define GRADER_LABS_11_DATA_PARALLEL_SUMS_H

#include "grader/judge_ranks.h"
#include "grader/labs/11_data_parallel/protocol.h"

enum { MOST_WINDOWS = 3 };

/** A run: what is given, and what the kit's own steps have given. */
typedef struct SumTrial {
    Given given;
    int32_t option[RANK_OPTIONS];
    int ranks, windows, micros;
    float *single[MOST_WINDOWS][MOST_RANKS]; /**< (P) what each rank learns by itself */
    float *first[MOST_WINDOWS][MOST_RANKS];  /**< (P) the same from its first micro-batch alone */
    float *sum[MOST_WINDOWS];                /**< (P) of the ranks, in their order */
    float *weights[MOST_WINDOWS];            /**< (P) after each update; NULL where there is none */
} SumTrial;

/**
 * Ragged micro-batches of a small model, on simulated GPUs. Where there are several, the last rank
 * learns nothing in the last micro-batch, and one batch has a single target.
 *
 * @param check   the check
 * @param ranks   R
 * @param windows at most MOST_WINDOWS
 * @param micros  of each, on each rank
 */
SumTrial *sums_new(Check *check, int ranks, int windows, int micros);

/** The same for a model of another shape. */
SumTrial *sums_of(Check *check, ModelConfig config, int ranks, int windows, int micros);

/** Gives and wants all of it, runs the kit's steps and keeps them, runs the submission. @return
    whether it ran, and nothing was reported */
bool sums_run(SumTrial *trial);

/** The gradients of all ranks in all windows, bit by bit. @return right */
bool sums_expect_gradients(SumTrial *trial);

/** The weights of all ranks after each update, bit by bit. @return right */
bool sums_expect_weights(SumTrial *trial);

/** Whether each window was skipped by all ranks or by none, as the kit's step was. @return right */
bool sums_expect_skipped(SumTrial *trial, int window, bool skipped);

/** The weights that all ranks begin with after ddp_broadcast(). @return right */
bool sums_expect_start(SumTrial *trial);

/** In the record, ddp_broadcast() comes after the ops before it. @return right */
bool sums_expect_start_order(SumTrial *trial);

/** Each rank has sent what the gradients of every window have, once; where the weights of rank 0
    were sent as well, no less. @return right */
bool sums_expect_sent(SumTrial *trial);

#endif
