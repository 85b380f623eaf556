/**
 * @file techniques.h
 * @brief What labs 04, 05, 07, 08, 10 and 12 change of a training step, given to the runtime.
 * @ingroup train
 */
#ifndef TRAIN_TECHNIQUES_H
#define TRAIN_TECHNIQUES_H

#include "common/trainer.h"

/**
 * Initial state: fp16 gets scaler_init()'s scaler; bf16 has float's range and keeps a scale of 1.
 *
 * @param[out] mixed     to prepare; trainer->mixed points to it
 * @param      precision F16 or BF16
 */
void mixed_init(Mixed *mixed, Precision precision);

/**
 * The rule of an optimizer, with the codebooks of lab 07 where its states are bytes.
 */
OptimizerRule techniques_rule(Optim optim);

/**
 * Sets how a model's adapters run and what they keep (lab 10); nothing, where it has none. Forward
 * does it too: it need be called where a model is looked at before it is trained.
 */
void adapters_attach(Model *model);

/**
 * Sets the trainer's three pointers: forward and backward run blocks again as trainer->model's
 * checkpoint says (lab 04), or with trainer->offload as lab 08 does; with trainer->mixed the loss
 * is scaled, and the update is lab 05's; with trainer->zero it is lab 12's.
 *
 * @param trainer as it will be used: with model, offload, zero, and mixed where weights are in half
 */
void techniques_set(Trainer *trainer);

#endif
