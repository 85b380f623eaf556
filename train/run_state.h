/**
 * @file run_state.h
 * @brief What the files of a training run share: run.c sets it up, run_steps.c trains.
 * @ingroup train
 */
#ifndef TRAIN_RUN_STATE_H
#define TRAIN_RUN_STATE_H

#include "common/snapshot.h"
#include "labs/05_fp16/contract.h"
#include "train/options.h"
#include "train/ranks.h"
#include "train/report.h"

/** A run in progress. */
typedef struct Run {
    TrainOptions options; /**< with T and the shape settled */
    Comm *comm;           /**< the ranks; borrowed */
    Ranks ranks;          /**< of the trainer, where there are several */
    Device *device;       /**< where it runs */
    Memory *memory;       /**< all tensors */
    Data *data;           /**< the text */
    Trainer trainer;      /**< what a step works on */
    Mixed mixed;          /**< the trainer's, with weights in half */
    Report *report;       /**< lines and metrics */
    Snapshot snapshot;    /**< what a checkpoint is of */
    char *resume_folder;  /**< NULL, or the checkpoint that it goes on from */
    int first_step;       /**< updates that were done before */
    int last_step;        /**< updates that will be done in all */
    int result;           /**< exit status so far */

    int updates;          /**< of this run */
    int windows;          /**< the same with those that were skipped */
    int skipped;          /**< skipped since the last update */
    double first_loss;    /**< of the first window, nats per token */
    float scale;          /**< of the loss, before the present window; 0 without a scaler */
    size_t samples;       /**< sequences trained on */
    size_t row;           /**< place in the data where the present window began */
    double window_began;  /**< on the clock */
    double train_seconds; /**< in windows only */
    double line_began;    /**< train_seconds at the last line */
    size_t line_tokens;   /**< tokens since then */
    double profile_began; /**< train_seconds when the profile was reset */

    MemoryUse predicted; /**< bytes by kind at the peak, by the formulas */
} Run;

/**
 * Trains up to the last step: through loop_step() of lab 01 where that is all it takes, else
 * through train_epoch() of lab 03. Reports, validates and saves when it is time.
 *
 * @param run all set up
 * @return exit status
 */
int run_steps(Run *run);

/** Mean loss over the validation rows; NaN if there are none. */
double run_evaluate(Run *run);

/** Whether a window of one rank takes more than loop_step() of lab 01 can do. */
bool run_needs_windows(const TrainOptions *options);

/** Whether this rank reports, validates and saves: one does. */
static inline bool run_speaks(const Run *run) {
    return comm_rank(run->comm) == 0;
}

/** Whether there are several ranks. */
static inline bool run_is_shared(const Run *run) {
    return comm_size(run->comm) > 1;
}

#endif
