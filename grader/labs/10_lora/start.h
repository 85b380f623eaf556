/**
 * @file start.h
 * @brief The judge's part of fresh adapters: their numbers, and the gradients of the first step.
 * @ingroup grader
 */
#ifndef GRADER_LABS_10_LORA_START_H
#define GRADER_LABS_10_LORA_START_H

#include "grader/labs/10_lora/run.h"

/** Of n numbers. */
double sum_of_squares(const float *x, size_t n);

/* Each fails the check where something is wrong. @return whether nothing is. */

/** Each B is 0, and each A is not. `got` (numbers) is what the adapters begin with. */
bool start_expect_zeros(Check *check, const LoraRun *run, const float *got);

/** Each A is uniform: its mean and deviation are within five of their own deviations. */
bool start_expect_uniform(Check *check, const LoraRun *run, const float *got);

/** No two rows of an A are the same, nor do two A begin with the same numbers. */
bool start_expect_apart(Check *check, const LoraRun *run, const float *got);

/** Neighbours in an A, in a row and below each other, have nothing to do with each other: their
    correlations are within five deviations of 0. */
bool start_expect_independent(Check *check, const LoraRun *run, const float *got);

/** Each number of A is made of one of the stream RNG_ADAPTERS of the run's seed, in any order. */
bool start_expect_stream(Check *check, const LoraRun *run, const float *got);

/** Nothing of lora_init() stays on the heap. */
bool start_expect_none_left(Check *check);

/** Wants the same numbers on the simulated GPU and in half. */
void start_want_elsewhere(const LoraRun *run);

/** Runs that: each number is `first`'s, as the storage type holds it. */
bool start_expect_elsewhere(const LoraRun *run, const float *first);

/** The gradient of each A is 0, since B is, and that of each B is not. */
bool start_expect_gradients(Check *check, const LoraRun *run);

#endif
