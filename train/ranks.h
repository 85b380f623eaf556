/**
 * @file ranks.h
 * @brief Data-parallel training: each rank learns from its share of a window, all update alike.
 * @ingroup train
 *
 * The text is shared by data_share(), whose windows count the valid targets of all ranks: so a
 * rank's gradient is its part of the window's mean already, and the sum over ranks is the gradient
 * of one process that accumulates all of their micro-batches. It is made when the last backward of
 * a window has added to the gradients; every rank then clips and updates by itself, from the same
 * bits.
 *
 *     grad = grad of rank 0 + grad of rank 1 + ...        in this order
 *
 * Loss scaling needs no more: where one rank's gradient overflows, so does the sum, and all ranks
 * skip the update.
 */
#ifndef TRAIN_RANKS_H
#define TRAIN_RANKS_H

#include "common/comm.h"
#include "common/trainer.h"

/** The ranks that share a window. */
typedef struct Ranks {
    Comm *comm;       /**< connected to the trainer's device; borrowed */
    const Data *data; /**< where the windows come from; borrowed */
    int micros;       /**< micro-batches of a full window, on each rank */
    int done;         /**< of the present window */
    void (*backward)(Trainer *trainer, float share); /**< of one micro-batch, without the others */
} Ranks;

/**
 * From now on the trainer's windows are those of all ranks together. Each rank draws dropout masks
 * of its own. Ends the program with a line where the weights are not the same on all ranks.
 *
 * @param trainer with its model and its pointers set
 * @param ranks   comm, data and micros are filled in; must outlive the trainer's use
 */
void ranks_join(Trainer *trainer, Ranks *ranks);

/**
 * The report of a window over all ranks: their losses together. Called by each rank after each
 * window; ends the program with a line where the ranks have updated to different weights.
 *
 * @param trainer of ranks_join()
 * @param report  of this rank
 * @return the same on each rank
 */
StepReport ranks_report(Trainer *trainer, const StepReport *report);

#endif
