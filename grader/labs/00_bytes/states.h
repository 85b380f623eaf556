/**
 * @file states.h
 * @brief Judge of lab 00: parameters and what is kept of each, rightly and by mistake.
 * @ingroup grader
 */
#ifndef GRADER_LABS_00_BYTES_STATES_H
#define GRADER_LABS_00_BYTES_STATES_H

#include "grader/labs/00_bytes/answers.h"

/** How many elements of parameters there are: task 1, rightly. */
MemoryUse params_right(const Shape *shape);

/** Weights, gradients and states: task 2, rightly. */
MemoryUse states_right(const Shape *shape);

/** These for that many parameters, mistaken or not. */
MemoryUse states_of(const Shape *shape, MemoryUse params);

/** A shape as it is for one who takes bf16 for float; and what is said of that. */
Shape shape_of_wide_bf16(const Shape *shape);
extern const char BF16_IS_HALF[];

/** Known mistakes of task 1, as its answers. */
Mistakes params_mistakes(lift_fn *lift, lift_fn *then);

/** Known mistakes of task 2, as its answers. */
Mistakes states_mistakes(lift_fn *lift);

const Task *task_params(void); /**< task 1 */
const Task *task_states(void); /**< task 2 */

#endif
