/**
 * @file run.h
 * @brief A whole training run: from options to summary.
 * @ingroup train
 */
#ifndef TRAIN_RUN_H
#define TRAIN_RUN_H

#include "common/comm.h"
#include "train/options.h"

/**
 * Trains, validates, saves, samples, reports. Of several ranks rank 0 does all but train.
 *
 * @param options what options_parse() gave, the same on each rank
 * @param comm    the ranks; borrowed
 * @return exit status: 0; EXIT_RUN; EXIT_USAGE where the options ask for what cannot be done. A
 * line on stderr says why
 */
int run_training(const TrainOptions *options, Comm *comm);

#endif
