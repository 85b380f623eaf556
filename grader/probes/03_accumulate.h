/**
 * @file 03_accumulate.h
 * @brief What the judge and the probe of lab 03 say to each other: names, and numbers that mean
 * words.
 * @ingroup grader
 */
#ifndef GRADER_PROBES_03_ACCUMULATE_H
#define GRADER_PROBES_03_ACCUMULATE_H

#include "grader/probes/training.h"

/** The tensor "plan": whole numbers that say what is to be run. */
typedef enum Plan {
    PLAN_STEPS,  /**< micro-batches of a full window */
    PLAN_EPOCHS, /**< times that the data are gone through */
    PLAN_STOP,   /**< windows after which report() says stop; 0 for never */
    PLAN_WANTS,  /**< what is to be handed back, below */
    PLAN_GPU,    /**< whether it runs on the GPU */
    PLAN_SIZE,   /**< how many numbers a plan has */
} Plan;

/** What is to be handed back, to be added up. */
enum {
    WANT_GRADIENTS = 1, /**< as they are when the optimizer steps */
    WANT_UPDATE = 2,    /**< weights and moments after each window */
    WANT_LEFT = 4,      /**< gradients after each window */
    WANT_REPORT = 8,    /**< always handed back; says to the judge that it is looked at */
};

#endif
