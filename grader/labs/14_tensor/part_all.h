/**
 * @file part_all.h
 * @brief Lab 14 in the probe: numbers about the gradients of all ranks, for ranks_run().
 * @ingroup grader
 */
#ifndef GRADER_LABS_14_TENSOR_PART_ALL_H
#define GRADER_LABS_14_TENSOR_PART_ALL_H

#include "grader/probe_ranks.h"

/** The norm of all gradients, TP_NORMS times: "norm" and "gradients" of each rank, and "left", the
    bytes of tensors that the calls have left. */
void all_norm_rank(RankRun *run);

/**
 * Case after case an overflow that one rank has: "cases" (n, 3): whose gradient, which parameter,
 * and what is put into it. "overflow" is an OVERFLOW_ of each; "left" are the bytes that all calls
 * but the first have left.
 */
void all_overflow_rank(RankRun *run);

#endif
