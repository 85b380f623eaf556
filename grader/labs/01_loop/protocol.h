/**
 * @file protocol.h
 * @brief What the judge and the probe of lab 01 say to each other, beside what all windows do.
 * @ingroup grader
 */
#ifndef GRADER_LABS_01_LOOP_PROTOCOL_H
#define GRADER_LABS_01_LOOP_PROTOCOL_H

#include "grader/probe_windows.h"

/** How far the first step must come if a hole ends it: a LoopEnough. */
enum { OPTION_ENOUGH = OPTION_OWN };

/** When a run may end. */
typedef enum LoopEnough {
    ENOUGH_ALL,      /**< to its end */
    ENOUGH_BACKWARD, /**< gradients are there */
    ENOUGH_UPDATE,   /**< weights are updated */
} LoopEnough;

#endif
