/**
 * @file block.h
 * @brief Judge of lab 00: what a block keeps, rightly and by mistake.
 * @ingroup grader
 */
#ifndef GRADER_LABS_00_BYTES_BLOCK_H
#define GRADER_LABS_00_BYTES_BLOCK_H

#include "grader/judge_kit.h"
#include "grader/labs/00_bytes/answers.h"

/** An answer for any shape, from what is counted on one sequence of 1 token and on one of 2. */
MemoryUse by_the_token(answer_fn *counted, const Shape *shape);

/** The bytes that one block keeps, in answer_one(). */
MemoryUse block_right(const Shape *shape);

/** Known mistakes of task 3, as its answers. */
Mistakes block_mistakes(lift_fn *lift, lift_fn *then);

/** The sentence where a stream of numbers more or less is counted. */
extern const char block_stream[];

const Task *task_block(void); /**< task 3 */

#endif
