/**
 * @file contract.h
 * @brief The holes of lab 05: half precision with a loss scaler and float masters.
 * @ingroup labs
 *
 * cast.cu and unscale.cu are the other two: their contracts are kernels/cast.h and
 * kernels/unscale.h.
 */
#ifndef LABS_05_FP16_CONTRACT_H
#define LABS_05_FP16_CONTRACT_H

#include "common/trainer.h"

/** Scale 2^16, growth 2, backoff 0.5, floor 1, interval 2000, no good step yet. */
void scaler_init(Scaler *scaler);

/**
 * Updates the scale after a step: grows it after `interval` good steps in a row (unless that would
 * be infinite; good_steps starts again at 0 either way), lowers it after a bad one, not below the
 * floor.
 *
 * @param scaler    its state
 * @param found_inf whether a gradient of the step was not finite
 */
void scaler_update(Scaler *scaler, bool found_inf);

/**
 * The share to give to backward, so that the gradients are those of the scaled loss.
 *
 * @param mixed the state (common/trainer.h)
 * @param share the weight of each valid target's loss, unscaled
 */
float mixed_scale(const Mixed *mixed, float share);

/**
 * Ends a window in mixed precision, all of whose gradients have been added up, still scaled:
 * unscales them once and looks for inf and NaN; if there is one, nothing is learned and the report
 * says skipped; else clips, updates the float masters with the schedule's rate, and writes them,
 * rounded, into the weights. Gradients are zero again; the scaler, where it is dynamic, has been
 * updated. Does not tick the schedule: the caller does, unless the report says skipped.
 *
 * The parameters that are trained are model->params; of a model with adapters model->base is
 * frozen. model->result is memory of the device: device_fill() and device_download() reach it, the
 * host does not.
 *
 * @param         trainer with trainer->mixed set
 * @param[in,out] report  norm (of the unscaled gradients, before clipping; not finite where the
 *                        step is skipped), rate, skipped are written; loss and tokens stay
 */
void mixed_update(Trainer *trainer, StepReport *report);

#endif
