/**
 * @file mistakes.h
 * @brief The judge's part of lab 04: what known mistakes make of the gradients.
 * @ingroup grader
 *
 * A pass that runs segments again, in all the memory that it wants, and wrong in one known way.
 */
#ifndef GRADER_LABS_04_CHECKPOINT_MISTAKES_H
#define GRADER_LABS_04_CHECKPOINT_MISTAKES_H

#include "common/block.h"
#include "grader/judge_kit.h"

/** Each is made alone. */
typedef enum CheckpointMistake {
    FRESH_MASKS,    /**< new masks for the second run */
    NO_MASKS,       /**< the second run is one without dropout */
    INPUT_BEFORE,   /**< from the input of the segment before */
    INPUT_BEHIND,   /**< from the output of the segment itself */
    OVERWRITTEN,    /**< from an input that the first run has overwritten, block by block */
    LAST_SEGMENT,   /**< backward of the last segment only */
    BACKWARD_TWICE, /**< each block runs backward twice */
    NO_EMBEDDING,   /**< no backward of the embedding */
    LAST_PASS,      /**< the gradients of the last micro-batch alone */
    CHECKPOINT_MISTAKES,
} CheckpointMistake;

/** The sentence about each. */
extern const char *const checkpoint_mistake_sentence[CHECKPOINT_MISTAKES];

/** The loss of a pass whose head comes after the first `blocks` blocks. */
double mistaken_short_loss(const ModelConfig *config, uint64_t seed, const Batch *batch,
                           int blocks);

/**
 * The gradients of a first step.
 *
 * @param      config  the model, with at most MOST_LAYERS layers
 * @param      segment blocks per segment; 0 for all
 * @param      seed    of the model
 * @param      batch   (passes) its micro-batches
 * @param      passes  how many
 * @param      share   what each valid target counts
 * @param      mistake made in each pass
 * @param[out] to      for each parameter its gradient
 */
void mistaken_step(const ModelConfig *config, int segment, uint64_t seed, const Batch *batch,
                   int passes, float share, CheckpointMistake mistake, float *const *to);

#endif
