/**
 * @file bytes_as.h
 * @brief Judge of lab 04: the bytes of a step, worked out with a known mistake.
 * @ingroup grader
 */
#ifndef GRADER_LABS_04_CHECKPOINT_BYTES_AS_H
#define GRADER_LABS_04_CHECKPOINT_BYTES_AS_H

#include "grader/shape.h"

/** Mistakes in a formula for the bytes of a step. */
typedef enum CheckpointBytes {
    BYTES_RIGHT,
    BYTES_PLAIN,
    BYTES_LAST_FULL,
    BYTES_LAST_EMPTY,
    BYTES_CONFIG_T,
    BYTES_PROBS_KEPT,
    BYTES_PROBS_NEVER,
    BYTES_PROBS_AT_HEAD,
    BYTES_ONE_HEAD,
    BYTES_PROBS_IN_FLOATS,
    BYTES_FLASH_PROBS,
    BYTES_HEAD_ADDED,
    BYTES_NO_HEAD,
    BYTES_NO_BACKWARD,
    BYTES_NO_BACKWARD_OF_ONE,
    BYTES_NO_PADDING,
    BYTES_NO_FLOATS,
    BYTES_THREE_FLOATS,
    BYTES_FLOATS_IN_HALF,
    BYTES_INPUT_MORE,
    BYTES_INPUT_LESS,
    BYTES_SHORT_NOT_COUNTED,
    BYTES_NO_OUTPUT,
    BYTES_FOUR_TENSORS,
    BYTES_LAST_ONLY,
    BYTES_INPUT_STAYS,
    BYTES_HEAD_BEFORE,
    BYTES_MISTAKES,
} CheckpointBytes;

/** The sentence about each, for the student. */
extern const char *const checkpoint_bytes_sentence[BYTES_MISTAKES];

/** Bytes of activations at the peak, with a mistake. */
size_t checkpoint_bytes_as(const Shape *shape, CheckpointBytes mistake);

#endif
