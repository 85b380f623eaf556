/**
 * @file run.h
 * @brief The judge's part of ranks that share a model.
 * @ingroup grader
 */
#ifndef GRADER_LABS_12_ZERO_RUN_H
#define GRADER_LABS_12_ZERO_RUN_H

#include "grader/judge_ranks.h"
#include "grader/labs/12_zero/protocol.h"

enum { ZERO_MOST_STEPS = 3 };

/** A run: what is given, and what is right. */
typedef struct ZeroRun {
    Check *check;
    Given given;
    int32_t option[RANK_OPTIONS];
    Batch batch[MOST_BATCHES];
    int batches;
    size_t budget;     /**< bytes of each rank; 0 for no limit */
    Param *params;     /**< described */
    float *right;      /**< (steps, P) weights after each step; by the kit's program */
    uint64_t *reports; /**< (steps, REPORTED) */
    RankCalls calls;   /**< of the submission */
    float *planted;    /**< (P) gradients whose norm is wanted; or NULL */
    double norm[2];    /**< of these, as it is right, and added rank after rank */
} ZeroRun;

/**
 * Inputs of a run: a small model, batches of different rows for each rank and step.
 *
 * @param check     the check
 * @param stage     1, 2 or 3
 * @param ranks     R
 * @param micros    micro-batches of a step
 * @param precision of the weights; with F16 the loss has a scaler
 */
ZeroRun *zero_run(Check *check, int stage, int ranks, int micros, Precision precision);

/** Makes the model one whose peak is in a block, and the budget what a right submission needs, and
    a few KiB more. */
void zero_set_budget(ZeroRun *run);

/** The schedule ends with the last step: its rate is 0. */
void zero_end_schedule(ZeroRun *run);

/** Gradients are clipped, to a norm that each window's is well above. */
void zero_clip(ZeroRun *run);

/** Another number of blocks, before anything else is set. */
void zero_set_layers(ZeroRun *run, int layers);

/** One gradient of one rank is not finite in the first micro-batch of the first step, and large in
    that of the last: the first number of a parameter, of a rank that is drawn. */
void zero_spoil_at(ZeroRun *run, int param, ZeroBad bad);

/**
 * The same, of a parameter that is drawn: NaN or infinite.
 *
 * @param run       which
 * @param of_rank_0 whether rank 0 has it in its part of the sum, or another rank
 */
void zero_spoil(ZeroRun *run, bool of_rank_0);

/** Of a number that is the NaN of checked memory. */
extern const char zero_unwritten_sentence[];

/** The sentences for a norm that has the loss scale, and for one that has its square. */
extern const char zero_scaled_sentence[], zero_rescaled_sentence[];

/** Describes the parameters of the run's model. */
void zero_describe(ZeroRun *run);

/** Plants gradients whose norm depends on the order in which its sums are added. */
void zero_plant(ZeroRun *run);

/** Compares the norm of those, on every rank. */
bool zero_expect_planted(ZeroRun *run);

/** Runs the kit's program, and the submission. @return whether both have finished */
bool zero_start(ZeroRun *run);

/** Compares the weights of step s on every rank; names known mistakes. */
bool zero_expect_weights(ZeroRun *run, int s);

/** Compares weights, norms, rates, skips and scales step by step, on every rank; names known
    mistakes. */
bool zero_expect_steps(ZeroRun *run);

/** After steps that are right: the same batches once more, by a single rank that has all. */
bool zero_expect_alone(ZeroRun *run);

/** Compares the bytes that stay with the formula, on every rank. */
bool zero_expect_states(ZeroRun *run);

/** The calls: gradients summed as often as the contract says, and weights gathered. */
bool zero_expect_calls(ZeroRun *run);

/** Bytes by the judge's own formulas: those that stay on a rank; those of gathered units. */
MemoryUse zero_stays(const ModelConfig *config, int stage, int ranks, int rank);

/** The most that comes and goes; `ahead`: with the next unit on its way. */
MemoryUse zero_comes(const ModelConfig *config, int stage, int ranks, bool ahead);

/** Numbers of all parts of a rank. */
size_t zero_parts(const ModelConfig *config, int ranks);

/** Whether the norm that a rank reports of a step is the right one times a power of the step's loss
    scale. */
bool zero_norm_is_scaled(const ZeroRun *run, int s, int r, int power);

#endif
