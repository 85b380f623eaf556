/**
 * @file fit.h
 * @brief `train --fit`: the plan of lab 06 at work.
 * @ingroup train
 */
#ifndef TRAIN_FIT_H
#define TRAIN_FIT_H

#include "common/device.h"
#include "train/options.h"

/**
 * Chooses the plan with plan_choose() of lab 06 and writes it into the options: micro-batch,
 * window, checkpoint, precision, attention, and the budget as the limit of memory. Says what was
 * chosen. Does nothing where --fit was not asked for.
 *
 * Rates come from the file of --rates, or are measured.
 *
 * @param options shape, T and device are settled
 * @param device  where it will run
 * @return 0, or an exit status after a line on stderr
 */
int fit_options(TrainOptions *options, Device *device);

#endif
