/**
 * @file bytes.h
 * @brief Judge of lab 04: bytes of a step with checkpoints, and what known mistakes make of them.
 * @ingroup grader
 */
#ifndef GRADER_LABS_04_CHECKPOINT_BYTES_H
#define GRADER_LABS_04_CHECKPOINT_BYTES_H

#include "grader/check.h"
#include "grader/quiz.h"

/** A batch that no machine here holds: each number of it belongs to one of its sequences. And a
   model that none holds: what is counted on small ones is a formula. */
enum { HUGE_BATCH = 1 << 20, HUGE_CHANNELS = 500 };

/** Bytes of activations at the peak, by counting; for a shape that is too large to count they are
    worked out from small ones. */
size_t checkpoint_counted(const Shape *shape);

/** Runs the submission's formula on the shapes of the quiz, and compares; names the mistake that
    explains most of what is wrong. */
void checkpoint_check_bytes(Quiz *quiz);

#endif
