/**
 * @file techniques.h
 * @brief What labs 04 and 05 change of a training step, given to the runtime.
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
 * Sets the trainer's three pointers: forward and backward run blocks again as trainer->model's
 * checkpoint says (lab 04); with trainer->mixed the loss is scaled, and the update is lab 05's.
 *
 * @param trainer with model, and mixed where the weights are in half, as they will be used
 */
void techniques_set(Trainer *trainer);

#endif
