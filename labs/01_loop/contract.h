/**
 * @file contract.h
 * @brief The holes of lab 01: one plain training step, and tests that tell broken steps from right
 * ones.
 * @ingroup labs
 */
#ifndef LABS_01_LOOP_CONTRACT_H
#define LABS_01_LOOP_CONTRACT_H

#include "common/trainer.h"

/* ---- loop.c ---------------------------------------------------------------------------------- */

/**
 * Trains on one batch: forward, backward, clip, update, zero, schedule.
 *
 * The gradient is that of the *mean* loss over the batch's valid targets. A batch without any has
 * gradient 0, and steps even so. Gradients are zero on entry and zero again on return.
 *
 * @param trainer model, optimizer, schedule and the clipping norm. Its schedule may have seen steps
 *                before the first one of this run; its clipping norm is only read
 * @param batch   host memory
 * @return loss in nats per valid target (0 if there is none), norm before clipping, rate used; not
 *         skipped
 */
StepReport loop_step(Trainer *trainer, const Batch *batch);

/* ---- loop_test.c: a loop under test ---------------------------------------------------------- */

/**
 * A training loop that another student wrote. It runs in another program, so there is no code to
 * read: loop_try() makes an experiment with it.
 */
typedef struct LoopUnderTest {
    int number; /**< which of the loops under test; says nothing about the loop */
} LoopUnderTest;

enum {
    LOOP_VOCABULARY = 256, /**< tokens and targets are below */
    LOOP_LENGTH = 8,       /**< most tokens of a row */
    LOOP_ROWS = 4,         /**< most rows of a batch */
    LOOP_MOST_STEPS = 4,   /**< most steps of an experiment */
    LOOP_PARAMS = 3000,    /**< elements of all parameters: one layer, 8 channels, no dropout */
};

/** A batch for a loop under test. Rows lie end to end: row b begins at b * T. */
typedef struct LoopBatch {
    int B;                                    /**< rows */
    int T;                                    /**< tokens of each row */
    int32_t tokens[LOOP_ROWS * LOOP_LENGTH];  /**< (B, T) in [0, LOOP_VOCABULARY) */
    int32_t targets[LOOP_ROWS * LOOP_LENGTH]; /**< (B, T) the same, or IGNORE_INDEX */
} LoopBatch;

/** The inputs of an experiment. Each begins with a fresh model and fresh moments. */
typedef struct LoopExperiment {
    uint64_t seed;                    /**< of the weights: the same seed, the same weights */
    Schedule schedule;                /**< its `step` is where the first step stands */
    float max_grad_norm;              /**< clipping; 0 for none */
    int steps;                        /**< 1 to LOOP_MOST_STEPS */
    LoopBatch batch[LOOP_MOST_STEPS]; /**< (steps) one for each step */
} LoopExperiment;

/** One step, seen from beside. */
typedef struct LoopSeen {
    StepReport report;           /**< as the loop itself reports it: it may be wrong */
    int ticks;                   /**< of the schedule in this step */
    int updates;                 /**< of the optimizer in this step */
    float gradient[LOOP_PARAMS]; /**< as the optimizer got them; 0 where it was not called */
    float weight[LOOP_PARAMS];   /**< after the step */
} LoopSeen;

/** The outcome of an experiment. */
typedef struct LoopReply {
    float weight[LOOP_PARAMS];      /**< before the first step */
    LoopSeen step[LOOP_MOST_STEPS]; /**< what was seen of each */
} LoopReply;

/**
 * Makes an experiment with a loop. The optimizer is AdamW with beta1 0.9, beta2 0.999, epsilon 1e-8
 * and no decay, so its first update moves every weight that has a gradient by the learning rate.
 *
 * The same experiment gives the same bits each time. Two right loops may differ from each other by
 * rounding: less than 1e-3 of the largest element. A wrong one differs from a right one by more
 * than a tenth of it, in some experiment.
 *
 * @param loop       which one
 * @param experiment its inputs; ends the program where they are out of range
 */
LoopReply loop_try(const LoopUnderTest *loop, const LoopExperiment *experiment);

/* ---- loop_test.c: the tests ------------------------------------------------------------------ */

/*
 * Each of these is about one property of a loop. It says whether the loop has it: true for a right
 * loop, false for one with that mistake, and true for a loop whose mistake is another one.
 */

/**
 * The gradients that the optimizer gets are those of the batch, scaled down to max_grad_norm where
 * their norm is above it, and as they are where it is below or max_grad_norm is 0. With
 * max_grad_norm 0 every loop with this mistake is right.
 */
bool test_clip(const LoopUnderTest *loop);

/**
 * A step begins with gradients of zero: nothing of an earlier step is in them. The first step of
 * every loop with this mistake is right.
 */
bool test_zero(const LoopUnderTest *loop);

/**
 * The gradients are those of the mean loss over the valid targets. Where all rows are of one length
 * and every target is valid, loops with this mistake may be right.
 */
bool test_mean(const LoopUnderTest *loop);

/**
 * Each step takes the rate that the schedule has for it, and ticks the schedule once. A loop with
 * this mistake may report another rate than it takes.
 */
bool test_rate(const LoopUnderTest *loop);

/**
 * A batch without any valid target has loss 0 and gradient 0; it updates the weights and ticks
 * the schedule like any other batch. With other batches every loop with this mistake is right.
 */
bool test_no_targets(const LoopUnderTest *loop);

#endif
