/**
 * @file heads.h
 * @brief The judge of lab 14: embedding and head over a vocabulary that ranks share, in double.
 * @ingroup grader
 */
#ifndef GRADER_LABS_14_TENSOR_HEADS_H
#define GRADER_LABS_14_TENSOR_HEADS_H

#include "grader/labs/14_tensor/ranked.h"

/** Judges the embedding in a precision, or its backward. */
void heads_judge_embed(Check *check, bool backward, Precision precision);

/** Judges losses, or with backward their gradients; logits of some hundreds with `large`, in memory
    of simulated GPUs with `gpu`. */
void heads_judge_loss(Check *check, bool backward, bool large, Precision precision, bool gpu);

#endif
