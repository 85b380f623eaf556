/**
 * @file lab04.h
 * @brief The holes of lab 04: keep the input of some blocks, run the rest again in backward.
 * @ingroup labs
 */
#ifndef COMMON_LAB04_H
#define COMMON_LAB04_H

#include "common/block.h"

/**
 * The most activation bytes at any one time of a checkpointed step (as bytes_activations() for a
 * plain one), to the byte.
 *
 * @param config     the model
 * @param B          sequences
 * @param T          tokens per sequence
 * @param checkpoint what is run again; with segment 0 and no selective recompute, a plain step
 */
size_t checkpoint_bytes(const ModelConfig *config, int B, int T, Checkpoint checkpoint);

/**
 * Chooses how many blocks lie between two kept inputs: of the segments whose step fits into the
 * budget, the one that runs the fewest blocks again, and of equals the one with fewer bytes.
 *
 * @param config the model
 * @param B      sequences
 * @param T      tokens per sequence
 * @param budget bytes that the activations of a step may take
 * @return blocks per segment, 1 to L; 0 if none fits
 */
int checkpoint_segment(const ModelConfig *config, int B, int T, size_t budget);

/**
 * Forward as model_forward(), but keeps only what model->checkpoint says: the input of each segment
 * of `segment` blocks (the last one may be short), or, with `attention_only`, everything but the
 * probabilities of attention.
 *
 * @param model   the model; model->checkpoint says how
 * @param batch   host memory
 * @return sum of the losses of the valid targets, in nats
 */
double checkpoint_forward(Model *model, const Batch *batch);

/**
 * Backward as model_backward(), bit for bit, running again what was not kept just before it is
 * needed. The dropout stream ends where that of a plain step ends.
 */
void checkpoint_backward(Model *model, float dloss);

#endif
