/**
 * @file fit.h
 * @brief `train --fit`: the plan of lab 06 at work.
 * @ingroup train
 */
#ifndef TRAIN_FIT_H
#define TRAIN_FIT_H

#include "common/plan.h"
#include "train/options.h"

/**
 * Offers every plan of the kit's own blocks to plan_choose(), or with another optimizer than AdamW
 * to optim_choose(), with the bytes and seconds that
 * plan_bytes() and plan_cost() say. The blocks are equal, and lab 04 runs segments of them: so each
 * way to run them is an option of its own, in which nothing is left to choose.
 *
 * @param      config the model; precision and attention are the plan's
 * @param      batch  sequences per update
 * @param      T      tokens per sequence
 * @param      budget bytes, all kinds together
 * @param      device where it will run
 * @param      rates  of the machine
 * @param[in,out] optim the Optim that is wanted; OPTIM_AUTO becomes the one that is chosen
 * @param[out] plan   the choice; left alone where nothing fits
 * @return 0; -1 where nothing fits
 */
int fit_choose(const ModelConfig *config, int batch, int T, size_t budget, const Device *device,
               const PlanRates *rates, int *optim, Plan *plan);

/**
 * Chooses the plan with fit_choose() and writes it into the options: micro-batch,
 * window, checkpoint, precision, attention, the optimizer of --optim auto, and the budget as the
 * limit of memory. Says what was chosen. Does nothing where --fit was not asked for.
 *
 * Rates come from the file of --rates, or are measured.
 *
 * @param options shape, T and device are settled
 * @param device  where it will run
 * @return 0, or an exit status after a line on stderr
 */
int fit_options(TrainOptions *options, Device *device);

#endif
