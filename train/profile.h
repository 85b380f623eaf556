/**
 * @file profile.h
 * @brief Where the time goes, op by op, against what the machine can do.
 * @ingroup train
 *
 * The profile is a second table of ops, whose entries time the real ones. Nothing is slower while
 * it is not in use.
 */
#ifndef TRAIN_PROFILE_H
#define TRAIN_PROFILE_H

#include <stdio.h>

#include "common/model.h"

/**
 * Puts the timing ops in place of the model's own. One model at a time can be profiled.
 *
 * @param model the model
 */
void profile_begin(Model *model);

/** Forgets what was measured so far: call it when the first, slow step is over. */
void profile_reset(void);

/** Puts the model's own ops back; what was measured stays until profile_begin(). */
void profile_end(Model *model);

/**
 * Measures the ceilings of the machine and prints each op's share of the time, its rate, and its
 * share of the ceiling.
 *
 * @param model   as given to profile_begin()
 * @param seconds that passed between profile_reset() and profile_end()
 * @param steps   training steps in this time
 * @param out     where to print
 */
void profile_print(Model *model, double seconds, int steps, FILE *out);

#endif
