/**
 * @file whole.h
 * @brief The judge of lab 14: passes and updates of a whole model, and what its ranks send.
 * @ingroup grader
 */
#ifndef GRADER_LABS_14_TENSOR_WHOLE_H
#define GRADER_LABS_14_TENSOR_WHOLE_H

#include "grader/labs/14_tensor/ranked.h"

/** Gradients of two micro-batches against double. */
void whole_judge_gradients(Check *check);

/** Three updates: what all ranks have. */
void whole_judge_replicated(Check *check);

/** The calls of NCCL, and their bytes. */
void whole_judge_calls(Check *check);

/** Bytes by kind, under a budget. */
void whole_judge_memory(Check *check);

#endif
