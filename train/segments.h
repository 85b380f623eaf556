/**
 * @file segments.h
 * @brief Lab 04 in a stage of a pipeline: what a micro-batch in flight keeps.
 * @ingroup train
 *
 * The blocks of a stage are to lab 04 a model by themselves (common/range.h), one for each
 * micro-batch in flight, in its lane. Blocks run again with the masks of that micro-batch, however
 * many others have drawn theirs since.
 */
#ifndef TRAIN_SEGMENTS_H
#define TRAIN_SEGMENTS_H

#include "labs/13_pipeline/contract.h"

/** Has lab 04 run the blocks of every pass that trains. Embedding and head stay with the pass. */
void segments_set(Model *model);

/**
 * The most activation bytes of a stage at any one time: as in pipe_bytes(), where of the blocks
 * stays what lab 04 keeps. In flight, each micro-batch has dx, the input of each segment, the last
 * segment's blocks, the output, and on the last stage what the head keeps; on top come the backward
 * of a block, the head's, or the longest segment that runs again.
 */
size_t segments_bytes(const ModelConfig *config, const PipePlan *plan, Checkpoint checkpoint, int B,
                      int T);

#endif
