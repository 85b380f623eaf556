/**
 * @file ranks.h
 * @brief The ranks of a run: who reads what, whose gradients are summed when (lab 11), and whether
 * all still agree.
 * @ingroup train
 *
 * The text is shared by lab 11's rule, and its windows count the valid targets of all replicas. So
 * a rank's gradient is its part of the window's mean already, and the sum over replicas is the
 * gradient of one process that accumulates all of their micro-batches. Every rank then clips and
 * updates by itself, from the same bits.
 *
 * Loss scaling needs no more: where one rank's gradient overflows, so does the sum, and all ranks
 * skip the update.
 */
#ifndef TRAIN_RANKS_H
#define TRAIN_RANKS_H

#include "common/trainer.h"
#include "labs/11_data_parallel/contract.h"
#include "train/grid.h"

/** The ranks that share a window. */
typedef struct Ranks {
    Comm *comm;          /**< connected to the trainer's device; borrowed */
    const Grid *grid;    /**< connected; borrowed */
    const Data *data;    /**< where the windows come from; borrowed */
    int micros;          /**< micro-batches of a full window, on each rank */
    size_t bucket_bytes; /**< of gradients that are summed together; 0: they are not (lab 12) */
    Ddp *ddp;            /**< ranks_join() makes it, where there are several replicas */
    int done;            /**< micro-batches of the present window */
    void (*backward)(Trainer *trainer, float share); /**< of one, without the others */
} Ranks;

/** Shares the text among the replicas; before its first batch. */
void ranks_share(Data *data, const Grid *grid);

/**
 * From now on the trainer's windows are those of all ranks together. Each replica draws dropout
 * masks of its own. Ends the program with a line where ranks that have the same part of the model
 * have not the same weights.
 *
 * @param trainer with its model and its pointers set
 * @param ranks   all is filled in but `ddp` and what follows it; must outlive the trainer's use
 */
void ranks_join(Trainer *trainer, Ranks *ranks);

/** The end of what ranks_join() has begun; nothing, where it was not called. */
void ranks_leave(Trainer *trainer, Ranks *ranks);

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
