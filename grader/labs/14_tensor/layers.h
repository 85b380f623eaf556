/**
 * @file layers.h
 * @brief The judge of lab 14: one linear layer on several ranks, against the whole layer in double.
 * @ingroup grader
 */
#ifndef GRADER_LABS_14_TENSOR_LAYERS_H
#define GRADER_LABS_14_TENSOR_LAYERS_H

#include "grader/labs/14_tensor/ranked.h"

/** Judges forward, or forward and backward, of a layer that is drawn. */
void layers_judge(Check *check, LinearId id, Precision precision, bool backward, bool gpu);

/** Judges forward and backward of a layer on simulated GPUs, in one half precision and then in the
    other. */
void layers_judge_half(Check *check, LinearId id);

#endif
