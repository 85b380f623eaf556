/**
 * @file shared.h
 * @brief Windows of lab 11, as both of its programs run them: the submission's and the kit's.
 * @ingroup grader
 */
#ifndef GRADER_LABS_11_DATA_PARALLEL_SHARED_H
#define GRADER_LABS_11_DATA_PARALLEL_SHARED_H

#include "grader/labs/11_data_parallel/protocol.h"

/** A trainer of one rank. */
typedef struct RankTrainer {
    Trainer trainer;
    Mixed mixed;
} RankTrainer;

/** Opens the trainer that is given. It must stay where it is. */
void shared_open(const RankRun *run, RankTrainer *rank);

/** Frees the host side. */
void shared_close(RankTrainer *rank);

/** Micro-batch k of window w of a rank. */
Batch turn_batch(const RankRun *run, int w, int k, int rank);

/** The weight of each valid target in window w: 1 over all of them, on all ranks. */
float turn_share(const RankRun *run, int w);

/** Makes the first gradient of the rank that the judge names infinite. */
void turn_spoil(const RankRun *run, const Model *model, int w, int k);

/** Ends a window: clip, update, gradients zero. */
StepReport shared_update(RankTrainer *rank);

#endif
