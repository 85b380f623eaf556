/**
 * @file step.h
 * @brief A step of a loop under test, as its description says.
 * @ingroup grader
 */
#ifndef GRADER_LABS_01_LOOP_LOOPS_STEP_H
#define GRADER_LABS_01_LOOP_LOOPS_STEP_H

#include "grader/labs/01_loop/loops/protocol.h"

/** A loop in the middle of an experiment. */
typedef struct LoopRun {
    LoopSpec spec;     /**< how it is wrong */
    Trainer trainer;   /**< what it trains; the caller's */
    int step;          /**< of the experiment, from 0 on; set by the caller */
    int ticks;         /**< of the schedule, so far; kept by loop_run_step() */
    float rate_before; /**< right rate of the step before; likewise */
    float norm_before; /**< gradient norm of the step before; likewise */
} LoopRun;

/** Trains on one batch, with the loop's mistake. Gradients are added to what is there. */
StepReport loop_run_step(LoopRun *loop, const Batch *batch);

#endif
