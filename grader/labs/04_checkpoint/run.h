/**
 * @file run.h
 * @brief The judge's part of lab 04: what a check gives to the probe, and wants back.
 * @ingroup grader
 */
#ifndef GRADER_LABS_04_CHECKPOINT_RUN_H
#define GRADER_LABS_04_CHECKPOINT_RUN_H

#include "grader/judge_peak.h"
#include "grader/judge_training.h"
#include "grader/labs/04_checkpoint/protocol.h"
#include "labs/04_checkpoint/contract.h"

enum { MOST_PASSES = 6 };

/** The weight of each valid target. */
#define RUN_SHARE (1.0 / 64)

/** The inputs of a check, and the plain step's results. */
typedef struct CheckpointRun {
    Check *check;
    ModelConfig config;
    Checkpoint checkpoint;
    bool gpu;
    int passes, window; /**< a step every `window` passes */
    Batch batch[MOST_PASSES];
    uint64_t seed;
    size_t budget; /**< bytes of everything */
    bool closed;   /**< there is no memory beside the budget */
    size_t choose; /**< bytes of activations that checkpoint_segment() is asked for; 0: it is not */
    Param *params;
    int param_count;
    float **plain; /**< (steps * param_count) gradients */
    uint64_t loss[MOST_PASSES], stream[MOST_PASSES];
    OtherModel other[MOST_OTHERS]; /**< models that take passes after this one */
    int others;                    /**< how many */
    uint64_t other_result[MOST_OTHERS * OTHER_RESULTS];
} CheckpointRun;

/* ---- what is given --------------------------------------------------------------------------- */

/** The bytes of everything at the peak of a step, apart from moments. */
size_t run_peak(const ModelConfig *config, int B, int T, Checkpoint checkpoint, bool gpu,
                MemoryUse *use);

/** Two steps of two micro-batches: ragged, of several shapes, one without any target. On the CPU so
   large that what a plain step keeps finds no other place; in the simulator small, for the time. */
CheckpointRun *run_small(Check *check, int L, Checkpoint checkpoint, float dropout, bool gpu);

/** Sequences of each micro-batch of run_large(). */
enum { RUN_LARGE_BATCH = 2 };

/** One step of two micro-batches, in memory that is closed. */
CheckpointRun *run_large(Check *check, ModelConfig config, Checkpoint checkpoint);

/** Passes of a small model of another kind, after those of the run; on the CPU alone. Returns it,
    or NULL. */
OtherModel *run_add_other(CheckpointRun *run, ModelConfig config, Checkpoint checkpoint);

/** The same, after a pass that runs something else again. */
void run_add_changing(CheckpointRun *run, ModelConfig config, Checkpoint checkpoint,
                      Checkpoint before);

/** In the simulator shorter, for the time it takes. */
ModelConfig run_large_config(void);

/** Gives all of it to the probe. */
void run_give(const CheckpointRun *run);

/** Wants losses, places in the stream, blocks that ran, gradients of each step, and a picture. */
void run_want(const CheckpointRun *run);

#endif
