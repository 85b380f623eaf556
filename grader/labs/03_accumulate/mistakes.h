/**
 * @file mistakes.h
 * @brief Judge of lab 03: what each micro-batch of a window counts by a known mistake.
 * @ingroup grader
 */
#ifndef GRADER_LABS_03_ACCUMULATE_MISTAKES_H
#define GRADER_LABS_03_ACCUMULATE_MISTAKES_H

#include "grader/windows.h"

enum { ACCUMULATE_MISTAKES = 28 };

/** A known mistake. */
typedef struct AccumulateMistake {
    const char *sentence;
    Weight *weight;
} AccumulateMistake;

/** Most likely first. */
extern const AccumulateMistake accumulate_mistakes[ACCUMULATE_MISTAKES];

/** Said of targets that are not counted. */
extern const char accumulate_counts_to_empty[];

/** Said of a data_next() that is asked once too often. */
extern const char accumulate_one_lost[];

/** Said of a divisor that reaches one micro-batch too far. */
extern const char accumulate_one_too_many[];

/** Said of a divisor that reaches to the end. */
extern const char accumulate_rest_of_epoch[];

#endif
