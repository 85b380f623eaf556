/**
 * @file shared.h
 * @brief The steps of lab 04, as both of its programs take them: the submission's and the kit's.
 * @ingroup grader
 */
#ifndef GRADER_LABS_04_CHECKPOINT_SHARED_H
#define GRADER_LABS_04_CHECKPOINT_SHARED_H

#include "grader/labs/04_checkpoint/protocol.h"

/** Who takes the steps, and in how much memory. */
typedef struct StepsBy {
    size_t budget; /**< bytes; 0 for as much as is wanted, and then nothing is recorded */
    bool closed;   /**< in a closed room (grader/probe_room.h) */
    /** The blocks that backward runs again, or NULL for none; the first call of a submission. */
    Checkpoint (*choose)(const Wire *in, const ModelConfig *config);
    double (*forward)(Model *model, const Batch *batch); /**< as model_forward() */
    void (*backward)(Model *model, float dloss);         /**< as model_backward() */
} StepsBy;

/** One of the numbers of "options". */
int32_t given_option(const Wire *in, int which);

/** Takes the steps that the judge asks for, and hands back what they gave. */
void steps_run(const Wire *in, Wire *out, const StepsBy *by);

#endif
