/**
 * @file protocol.h
 * @brief What the judge and the probe of lab 01 say to each other, beside what all windows do.
 * @ingroup grader
 */
#ifndef GRADER_LABS_01_LOOP_PROTOCOL_H
#define GRADER_LABS_01_LOOP_PROTOCOL_H

#include "grader/probe_windows.h"

/** A lab's own options. */
enum {
    OPTION_ENOUGH = OPTION_OWN, /**< how far the first step must come if a hole, or a later task's
                                     mistake, ends it: a LoopEnough */
    OPTION_START,               /**< ticks that the schedule has seen before the first step */
};

/** Numbers that a step reads and leaves as they are: max_grad_norm; of the schedule the largest
    rate, the steps of its warm-up, and all of its steps. */
enum { LOOP_SETTINGS = 4 };

/** When a run may end. */
typedef enum LoopEnough {
    ENOUGH_ALL,      /**< to its end */
    ENOUGH_BACKWARD, /**< gradients are there */
    ENOUGH_UPDATE,   /**< weights are updated */
} LoopEnough;

#endif
