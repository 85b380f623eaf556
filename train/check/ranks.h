/**
 * @file ranks.h
 * @brief Checks of what ranks do together, by the same program over MPI and in one process.
 * @ingroup train
 */
#ifndef TRAIN_CHECK_RANKS_H
#define TRAIN_CHECK_RANKS_H

#include "common/comm.h"

/**
 * The calls of comm.h on a device: every result bit for bit.
 *
 * @param comm   connected to the device
 * @param device of the tensors
 */
void check_calls(Comm *comm, Device *device);

/** Windows of a training run (train/ranks.h) against the sum of what each rank learns by itself. */
void check_windows(Comm *comm, Device *device);

/** A run in which the last rank has other weights, from the beginning or later; it ends the program
 * with a line. */
void check_drift(Comm *comm, Device *device, bool late);

#endif
