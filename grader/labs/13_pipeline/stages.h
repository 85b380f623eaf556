/**
 * @file stages.h
 * @brief The judge's part of lab 13, tasks 3 to 5: windows through stages, beside one device that
 * runs the micro-batches one after the other.
 * @ingroup grader
 */
#ifndef GRADER_LABS_13_PIPELINE_STAGES_H
#define GRADER_LABS_13_PIPELINE_STAGES_H

#include "grader/judge_ranks.h"
#include "grader/labs/13_pipeline/plans.h"

enum { MOST_WINDOWS = 2 };

/** The inputs of a check, and what the kit makes of them. */
typedef struct StagesRun {
    Check *check;
    Given given; /**< its batches are those of all windows, over and over where they are fewer */
    int32_t option[RANK_OPTIONS];
    int stages, windows;
    bool last_share_is_0; /* of the last window, as where it has no valid target */
    int micros;           /**< of a window */
    size_t budget;        /**< bytes of each rank; 0 for no limit */
    Param *params;
    int param_count;
    size_t tied;                  /**< numbers of the tied weight, the first of all */
    float *plain[MOST_WINDOWS];   /**< (P) gradients; of the tied weight the embedding's half */
    float *head[MOST_WINDOWS];    /**< (tied) the head's half */
    float *falling[MOST_WINDOWS]; /**< (P) with backwards in falling order */
    float *falling_head[MOST_WINDOWS];
    uint64_t loss[MOST_WINDOWS], stream[MOST_WINDOWS], eval;
    int norm_times; /**< of the last run */
    double *norms;  /**< (windows, NORM_WAYS, NORM_TIMES); NULL where there are none */
    uint64_t each[MOST_WINDOWS * MOST_IN_WINDOW]; /**< losses of the micro-batches */
} StagesRun;

/** Windows of ragged micro-batches, one of them without a target. The second of two is short by a
    micro-batch, unless the option says the first. */
StagesRun *stages_new(Check *check, PipeOrder order, int stages, int micros, int windows);

/** Draws weights that are stored in another precision. */
void stages_store(StagesRun *run, Precision precision);

/** Runs the kit, then the submission; expects nothing yet. @return whether both finished */
bool stages_run(StagesRun *run);

/**
 * The same run once more on the simulated GPU, where a host that touches memory of the device is
 * stopped.
 *
 * @param run    after stages_run(), of which all was right
 * @param expect whether all of the second run is right
 * @return whether it finished, and was
 */
bool stages_also_on_gpu(StagesRun *run, bool expect(const StagesRun *run));

/** Whether stage s has parameter i. */
bool stages_has(const StagesRun *run, int s, int i);

/** Element k of the right gradients of window w, end to end; the tied weight as stage 0 has it. */
float stages_gradient(const StagesRun *run, int w, size_t k);

/** Gradients of every window on every stage, to the bit; tied ones as far as the option says. */
bool stages_expect_gradients(const StagesRun *run);

/** The losses of the last stage, to the bit; others have 0. */
bool stages_expect_losses(const StagesRun *run);

/** Where the dropout stream is after each window, on every stage. */
bool stages_expect_streams(const StagesRun *run);

/** No tensor of a pass is left. */
bool stages_expect_nothing_left(const StagesRun *run);

/** The global norm on every stage; gradients are as they were before it. */
bool stages_expect_norms(const StagesRun *run);

/** Messages, and bytes that each stage has sent in a single window of GPIPE, forwards before
    backwards; other calls are none. */
bool stages_expect_messages(const StagesRun *run);

/** Bytes that each end has sent in tie_sum(), and that stages in between call nothing there. */
bool stages_expect_tie_calls(const StagesRun *run);

/** Activations and data of each stage at the peak of a single window, and nothing beside them. */
bool stages_expect_peak(const StagesRun *run);

/** The loss of the first batch. */
bool stages_expect_eval(const StagesRun *run);

/** The makespan of the record, on a declared machine where all stages take equally long: that of
    the formula, (m + p - 1) turns, and no bound. */
bool stages_expect_time(const StagesRun *run);

#endif
