/**
 * @file activations.h
 * @brief Judge of lab 00: what a block keeps and a step takes, rightly and by mistake.
 * @ingroup grader
 */
#ifndef GRADER_LABS_00_BYTES_ACTIVATIONS_H
#define GRADER_LABS_00_BYTES_ACTIVATIONS_H

#include "grader/judge_kit.h"
#include "grader/labs/00_bytes/answers.h"

/* ---- task 3 ---------------------------------------------------------------------------------- */

/** Compares the answers of task 3. */
void block_expect(const Quiz *quiz);

/* ---- tasks 4 and 5 --------------------------------------------------------------------------- */

/** By how many bytes a token the head's backward needs more than the last block's; negative where
   it needs less. */
long activations_head_minus_block(const Shape *s);

/** Compares the answers of task 4. */
void activations_expect(const Quiz *quiz);

/** Compares the answers of task 5. */
void predict_expect(const Quiz *quiz);

#endif
