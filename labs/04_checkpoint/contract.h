/**
 * @file contract.h
 * @brief The holes of lab 04: keep the input of some blocks, run the rest again in backward.
 * @ingroup labs
 *
 * The L blocks are cut into segments of `segment` blocks; the last one is short where L is not
 * a multiple of it. Of each segment but the last, forward keeps its input and nothing else, and
 * backward runs its blocks again just before they are needed. The last segment is kept whole:
 * backward begins with it. So a segment of L blocks, or 0, is a plain step.
 *
 * With `attention_only`, a block (every block, or those of the segment that is being worked on)
 * keeps everything but the probabilities of attention.
 *
 * All of this is the model's own: several models, of any number of blocks, take turns in a
 * program, also between forward and backward of one of them, and model->checkpoint may change
 * from one pass to the next.
 *
 * Sources: T. Chen et al., "Training deep nets with sublinear memory cost", arXiv 1604.06174;
 * V. Korthikanti et al., "Reducing activation recomputation in large transformer models",
 * arXiv 2205.05198, for attention_only.
 */
#ifndef LABS_04_CHECKPOINT_CONTRACT_H
#define LABS_04_CHECKPOINT_CONTRACT_H

#include "common/block.h"

/**
 * The most activation bytes at any one time of a checkpointed step (as bytes_activations() for a
 * plain one), to the byte.
 *
 * @param config     the model
 * @param B          sequences
 * @param T          tokens per sequence
 * @param checkpoint what is run again; with {0}, or a segment of L blocks or more, a plain step
 */
size_t checkpoint_bytes(const ModelConfig *config, int B, int T, Checkpoint checkpoint);

/**
 * Chooses how many blocks lie between two kept inputs: of the segments whose step fits into the
 * budget, the one that runs the fewest blocks again, and of equals the one with fewer bytes. The
 * blocks that run again are those before the last segment.
 *
 * @param config the model
 * @param B      sequences
 * @param T      tokens per sequence
 * @param budget bytes that the activations of a step may take
 * @return blocks per segment, 1 to L (L: a plain step fits); 0 if none fits
 */
int checkpoint_segment(const ModelConfig *config, int B, int T, size_t budget);

/**
 * Forward as model_forward(), but keeps only what model->checkpoint says.
 *
 * @param model   the model; no pass may be in flight
 * @param batch   host memory, as for model_forward()
 * @return sum of the losses of the valid targets, in nats: the same bits as model_forward()
 */
double checkpoint_forward(Model *model, const Batch *batch);

/**
 * Backward as model_backward(), bit for bit, running blocks that were not kept again, just before
 * they are needed. The dropout stream ends where that of a plain step ends.
 *
 * @param model the model, after checkpoint_forward() with the same model->checkpoint
 * @param dloss the weight of each valid target's loss, as for model_backward(); may be 0
 */
void checkpoint_backward(Model *model, float dloss);

#endif
