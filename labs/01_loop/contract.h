/**
 * @file contract.h
 * @brief The hole of lab 01: one plain training step.
 * @ingroup labs
 */
#ifndef LABS_01_LOOP_CONTRACT_H
#define LABS_01_LOOP_CONTRACT_H

#include "common/trainer.h"

/**
 * Trains on one batch: forward, backward, clip, update, zero, schedule.
 *
 * The gradient is that of the *mean* loss over the batch's valid targets. A batch without any has
 * gradient 0, and steps even so. Gradients are zero on entry and zero again on return.
 *
 * @param trainer model, optimizer, schedule and the clipping norm
 * @param batch   host memory
 * @return loss in nats per valid target (0 if there is none), norm before clipping, rate used
 */
StepReport loop_step(Trainer *trainer, const Batch *batch);

#endif
