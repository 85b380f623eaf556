/**
 * @file quote.h
 * @brief The judge's part of lab 06: asks what plans take and cost, where nothing is chosen.
 * @ingroup grader
 */
#ifndef GRADER_LABS_06_FIT_QUOTE_H
#define GRADER_LABS_06_FIT_QUOTE_H

#include "grader/labs/06_fit/space.h"

/** GPT-2 XL, which no laptop can count; freed by space_free(). */
Space *space_large_new(Check *check);

/** Bytes by kind of a plan of it, summed by formulas; without attention_only. */
MemoryUse space_large(const Space *space, const Plan *plan);

/** Bytes by kind of plans of it. */
void quote_bytes(Check *check);

/** Seconds on drawn machines, with plans that run something again or without. */
void quote_costs(Check *check, bool again);

/** Asks about the machines that were measured, all of them slowed down by a drawn factor. */
bool quote_measured(Check *check);

/** How near each is: within 50 %. */
void quote_expect_near(Check *check);

/** Which of two plans is slower: of a model on a machine where it takes 50 % more, else twice as
    long. */
void quote_expect_order(Check *check);

/** Peaks of drawn plans of stacks. */
void peaks_ask(Check *check);

#endif
