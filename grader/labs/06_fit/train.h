/**
 * @file train.h
 * @brief The judge's part of lab 06: an update by a plan, against a model in double.
 * @ingroup grader
 */
#ifndef GRADER_LABS_06_FIT_TRAIN_H
#define GRADER_LABS_06_FIT_TRAIN_H

#include "grader/judge_training.h"
#include "grader/labs/06_fit/space.h"

/** Weights that all three precisions hold exactly, in the order of the parameters. */
float *train_weights(Check *check, Reference *reference);

/** Gives the rows of one update, of any lengths. */
Batch train_rows(const Space *space);

/** A run of the kit alone, in a program without plan.c: the budget is the limit. */
bool train_run(const Space *space, const Reference *reference, const Plan *plan, uint64_t budget);

/** Each micro-batch draws its masks after the one before, in the plan's order. */
void train_expect_gradients(const Space *space, Reference *reference, const Plan *plan, Batch rows);

#endif
