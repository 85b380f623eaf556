/**
 * @file activations.h
 * @brief Judge of lab 00: what a step takes, rightly and by mistake.
 * @ingroup grader
 */
#ifndef GRADER_LABS_00_BYTES_ACTIVATIONS_H
#define GRADER_LABS_00_BYTES_ACTIVATIONS_H

#include "grader/judge_kit.h"
#include "grader/labs/00_bytes/answers.h"

/** By how many bytes a token the head's backward needs more than the last block's; negative where
   it needs less. */
long activations_head_minus_block(const Shape *s);

const Task *task_activations(void); /**< task 4 */
const Task *task_predict(void);     /**< task 5 */

#endif
