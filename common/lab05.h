/**
 * @file lab05.h
 * @brief The holes of lab 05: half precision with a loss scaler and float masters.
 * @ingroup labs
 *
 * cast.cu and unscale.cu are the other two: their contracts are kernels/cast.h and
 * kernels/unscale.h.
 */
#ifndef COMMON_LAB05_H
#define COMMON_LAB05_H

#include "common/trainer.h"

/** The state of a dynamic loss scaler. */
typedef struct Scaler {
    float scale;    /**< what the loss is multiplied by; a power of two */
    float growth;   /**< factor after `interval` good steps */
    float backoff;  /**< factor after a step with an inf or NaN */
    float floor;    /**< the scale never falls below */
    int interval;   /**< good steps in a row before the scale grows */
    int good_steps; /**< how many there have been */
} Scaler;

/** Scale 2^16, growth 2, backoff 0.5, floor 1, interval 2000, no good step yet. */
void scaler_init(Scaler *scaler);

/**
 * What a step does to the scale: grows it after `interval` good steps in a row (unless that would
 * be infinite), lowers it, not below the floor, after a bad one.
 *
 * @param scaler    its state
 * @param found_inf whether a gradient of the step was not finite
 */
void scaler_update(Scaler *scaler, bool found_inf);

/** The state of mixed precision: see Trainer, and mixed_init() in common/trainer.h. */
struct Mixed {
    Scaler scaler; /**< fp16's; with bf16 its scale is 1 */
    bool dynamic;  /**< whether scaler_update() is called: fp16, not bf16 */
};

/** What backward is given, so that the gradients of the scaled loss come out. */
float mixed_scale(const Mixed *mixed, float share);

/**
 * Ends a window in mixed precision, all of whose gradients have been added up, still scaled:
 * unscales them once and looks for inf and NaN; if there is one, nothing is learned and the report
 * says skipped; else clips, updates the float masters with the schedule's rate, and writes them,
 * rounded, into the weights. Gradients are zero again; the scaler, where it is dynamic, has seen
 * what happened. Does not tick the schedule: the caller does, unless the report says skipped.
 *
 * @param         trainer with trainer->mixed set
 * @param[in,out] report  norm (of the unscaled gradients, before clipping; not finite where the
 *                        step is skipped), rate, skipped are written
 */
void mixed_update(Trainer *trainer, StepReport *report);

#endif
