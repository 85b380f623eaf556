/**
 * @file run_state.h
 * @brief What the files of a training run share: run.c sets it up, run_steps.c trains,
 * run_summary.c says what is to come and what came of it.
 * @ingroup train
 */
#ifndef TRAIN_RUN_STATE_H
#define TRAIN_RUN_STATE_H

#include "common/graphed.h"
#include "common/snapshot.h"
#include "labs/05_fp16/contract.h"
#include "train/ahead.h"
#include "train/options.h"
#include "train/pipeline.h"
#include "train/ranks.h"
#include "train/report.h"
#include "train/shards.h"
#include "train/tensor.h"
#include "train/ways.h"

/** A run in progress. */
typedef struct Run {
    TrainOptions options; /**< with T and the shape settled */
    Comm *comm;           /**< the ranks; borrowed */
    Grid grid;            /**< where this rank is among them */
    const Way *way;       /**< how the model lies on the ranks */
    Ranks ranks;          /**< of the trainer, where there are several */
    Pipeline pipeline;    /**< of the trainer, where there are several stages */
    Device *device;       /**< where it runs */
    Memory *memory;       /**< all tensors */
    Data *data;           /**< the text */
    Trainer trainer;      /**< what a step works on */
    Mixed mixed;          /**< the trainer's, with weights in half */
    TensorRun tensor;     /**< of a model that is split (--tensor) */
    Prefetch *ahead;      /**< reads the text ahead; NULL: nobody does */
    Graphed *graph;       /**< the captured step (--cuda_graph), or NULL */
    Report *report;       /**< lines and metrics */
    Snapshot snapshot;    /**< what a checkpoint is of */
    char *resume_folder;  /**< NULL, or the checkpoint that it goes on from */
    int first_step;       /**< updates that were done before */
    int last_step;        /**< updates that will be done in all */
    int result;           /**< exit status so far */
    bool saves;           /**< rank 0 writes checkpoints */

    int updates;          /**< of this run */
    int windows;          /**< the same with those that were skipped */
    int skipped;          /**< skipped since the last update */
    double first_loss;    /**< of the first window, nats per token */
    double eval_loss;     /**< at the end, nats per token */
    float scale;          /**< of the loss, before the present window; 0 without a scaler */
    size_t samples;       /**< sequences trained on */
    size_t row;           /**< place in the data where the present window began */
    double window_began;  /**< on the clock */
    double train_seconds; /**< in windows only */
    double line_began;    /**< train_seconds at the last line */
    size_t line_tokens;   /**< tokens since then */
    double profile_began; /**< train_seconds when the profile was reset */

    double sent_before;    /**< comm_sent() where the first window began */
    double sent;           /**< and when the last one was over */
    MemoryUse predicted;   /**< bytes by kind at the peak, by the formulas */
    RankFigures *of_ranks; /**< (ranks) of run_gather(), run_gather_predicted(); owned */
} Run;

/**
 * Which labs the options need, the model's shape, the device, what --fit chooses, and the text. All
 * that is wrong with the options or the machine is said here, before anything is built.
 *
 * @param run a Run with its options and ranks
 * @return exit status
 */
int run_prepare(void *run);

/**
 * Trains up to the last step: through loop_step() of lab 01 where that is all it takes, else
 * through train_epoch() of lab 03. Reports, validates and saves when it is time.
 *
 * @param run all set up
 * @return exit status
 */
int run_steps(Run *run);

/** Bytes by kind at the peak, by the formulas, with B rows in a micro-batch. */
MemoryUse run_predict(const Run *run, int B);

/** Brings to each rank what is predicted for all, and nothing else. Each calls it. */
void run_gather_predicted(Run *run);

/** Brings to each rank what all have taken and sent. Each calls it, after its last step. */
void run_gather(Run *run);

/** Numbers in the weights of a model of this shape. */
size_t run_elements(const ModelConfig *config);

/** Prints the model, the data, the memory and the steps to come. The model need not be there. */
void run_print_header(const Run *run);

/**
 * Ends a run that has trained: summary, memory timeline, profile and sample, as the options ask.
 *
 * @return exit status
 */
int run_finish(Run *run);

/** Whether a window of one rank takes more than loop_step() of lab 01 can do. */
bool run_needs_windows(const TrainOptions *options);

/** Whether this rank reports, validates and saves: one does. */
static inline bool run_speaks(const Run *run) {
    return comm_rank(run->comm) == 0;
}

/** Whether this rank takes part in validation: rank 0, and all where a model takes all of them. */
static inline bool run_evaluates(const Run *run) {
    return run_speaks(run) || run->way->all_evaluate;
}

/** Whether there are several ranks. */
static inline bool run_is_shared(const Run *run) {
    return comm_size(run->comm) > 1;
}

#endif
