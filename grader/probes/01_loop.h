/**
 * @file 01_loop.h
 * @brief What the judge and the probe of lab 01 say to each other: names, and numbers that mean
 * words.
 * @ingroup grader
 */
#ifndef GRADER_PROBES_01_LOOP_H
#define GRADER_PROBES_01_LOOP_H

#include "grader/probes/training.h"

/** What is to be handed back, to be added up. */
enum {
    WANT_GRADIENTS = 1, /**< as they are when the optimizer steps */
    WANT_UPDATE = 2,    /**< weights and moments after each step */
    WANT_LEFT = 4,      /**< gradients after each step */
};

/** How far the first step must come if a hole ends it. */
typedef enum LoopEnough {
    ENOUGH_ALL,      /**< to its end */
    ENOUGH_BACKWARD, /**< gradients are there */
    ENOUGH_UPDATE,   /**< weights are updated */
} LoopEnough;

#endif
