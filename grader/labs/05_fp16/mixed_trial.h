/**
 * @file mixed_trial.h
 * @brief A small model in half precision with its trainer, for tests of mixed precision.
 * @ingroup grader
 *
 *     Test(mixed, learns, .init = trial_open, .fini = trial_close) {
 *         float *before = trial_states();
 *         cr_assert(!trial_good_window().skipped);
 *
 * One at a time, with dropout and clipping on.
 */
#ifndef GRADER_LABS_05_FP16_MIXED_TRIAL_H
#define GRADER_LABS_05_FP16_MIXED_TRIAL_H

#include "common/trainer.h"
#include "labs/05_fp16/contract.h"

enum {
    TRIAL_B = 2,      /**< sequences of a micro-batch */
    TRIAL_T = 6,      /**< tokens of each */
    TRIAL_MICROS = 3, /**< micro-batches of a window */
};

/** An open trial. */
typedef struct Trial {
    Device *device;            /**< where it runs */
    Memory *memory;            /**< checked on the CPU */
    Mixed mixed;               /**< the trainer's */
    Trainer trainer;           /**< the rest of it */
    Batch batch[TRIAL_MICROS]; /**< ragged, masked; the one in the middle has no valid target */
    size_t P;                  /**< elements of all parameters */
    float *seen;               /**< (P) gradients that trial_see() saw last; to be freed */
} Trial;

/** The one that is open. */
extern Trial trial;

/** Its model: f16, two layers, dropout. */
extern const ModelConfig trial_shape;

/** Opens a trial of another shape, on a device that it will free. */
void trial_open_on(Device *device, ModelConfig config);

/** The usual one, on the CPU. */
void trial_open(void);

/** Frees everything but `seen`. */
void trial_close(void);

/** Everything that a step may change: (4 P) weights, masters, m, v, by parameter. To be freed. */
float *trial_states(void);

/** For Optimizer.before_step: keeps the gradients in `seen`. */
void trial_see(void *context, const Model *model);

/** Fails the test unless all gradients are zero. */
void trial_expect_clean(void);

/** Fails the test unless the weights are the masters, rounded. */
void trial_expect_rounded(void);

/**
 * One window by hand; `bad` goes into gradient `index` of parameter `param` after micro-batch k.
 */
StepReport trial_window(int k, int param, size_t index, float bad);

/** One window with nothing bad in it. */
StepReport trial_good_window(void);

#endif
