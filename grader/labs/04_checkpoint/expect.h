/**
 * @file expect.h
 * @brief The judge's part of lab 04: is a run what the plain step is, and if not, why?
 * @ingroup grader
 */
#ifndef GRADER_LABS_04_CHECKPOINT_EXPECT_H
#define GRADER_LABS_04_CHECKPOINT_EXPECT_H

#include "grader/labs/04_checkpoint/mistakes.h"
#include "grader/labs/04_checkpoint/run.h"

/* ---- what is right --------------------------------------------------------------------------- */

/** Runs the plain step, which is kept, then the submission. @return whether both finished */
bool run_both(CheckpointRun *run);

/** Where the stream stands after each pass; what known mistakes would make of it. */
void run_expect_stream(const CheckpointRun *run);

/** That other models have done what a plain step does. */
bool run_expect_others(const CheckpointRun *run);

/** At most `most` runs of a block in each pass; fewer are welcome. */
void run_expect_forwards(const CheckpointRun *run, int most);

/** Forward of the first pass, then all gradients, then what the passes after it saw, and other
    models. */
bool run_same_as_plain(CheckpointRun *run);

#endif
