/**
 * @file numbers.h
 * @brief The judge of lab 14: numbers about all gradients, and formulas.
 * @ingroup grader
 */
#ifndef GRADER_LABS_14_TENSOR_NUMBERS_H
#define GRADER_LABS_14_TENSOR_NUMBERS_H

#include "grader/labs/14_tensor/ranked.h"

/** The norm over ranks. */
void numbers_judge_norm(Check *check);

/** Gradients that are not finite, on one rank. */
void numbers_judge_overflow(Check *check);

/** Bytes that stay. */
void numbers_judge_states(Check *check);

/** Bytes of activations at the peak. */
void numbers_judge_activations(Check *check);

/** Bytes on the wire. */
void numbers_judge_wire(Check *check);

#endif
