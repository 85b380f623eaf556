/**
 * @file lab04.h
 * @brief The holes of lab 04: keep the input of some blocks, run the rest again in backward.
 * @ingroup labs
 */
#ifndef COMMON_LAB04_H
#define COMMON_LAB04_H

#include "common/block.h"

/**
 * Chooses how many blocks lie between two kept inputs.
 *
 * @param config the model
 * @param B      sequences
 * @param T      tokens per sequence
 * @param budget bytes that the activations of a step may take
 * @return blocks per segment, 1 to L: the largest with which a step fits; 0 if none does
 */
int checkpoint_segment(const ModelConfig *config, int B, int T, size_t budget);

/**
 * Forward as model_forward(), but keeps only the input of each segment.
 *
 * @param model   the model
 * @param batch   host memory
 * @param segment blocks per segment, 1 to L; the last segment may be short
 * @return sum of the losses of the valid targets, in nats
 */
double checkpoint_forward(Model *model, const Batch *batch, int segment);

/** Backward as model_backward(), bit for bit, running each segment again before it is needed. */
void checkpoint_backward(Model *model, float dloss);

#endif
