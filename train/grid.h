/**
 * @file grid.h
 * @brief The ranks of a run as a grid: replicas of the model, stages of its blocks, slices of each.
 * @ingroup train
 *
 *     ranks = replicas x stages x slices
 *     rank = (replica * stages + stage) * slices + slice
 *
 * Ranks of one replica share a model; the others have the same part of it as this one, and other
 * micro-batches. With --ddp or --zero alone each rank is a replica.
 */
#ifndef TRAIN_GRID_H
#define TRAIN_GRID_H

#include "common/comm.h"
#include "train/options.h"

/** Where a rank is in the grid. Communicators (ncclComm_t) are NULL before grid_connect(), and
 * where there is but one rank in a row. */
typedef struct Grid {
    int replicas;                 /**< how many share the batch: --ddp, --zero */
    int stages;                   /**< how many share the blocks: --pipeline */
    int slices;                   /**< how many share each block: --tensor */
    int replica;                  /**< this one, from 0 on */
    int stage;                    /**< the same */
    int slice;                    /**< the same */
    struct ncclComm *of_replicas; /**< those with this stage and slice; rank = replica */
    struct ncclComm *of_stages;   /**< those with this replica and slice; rank = stage */
    struct ncclComm *of_slices;   /**< those with this replica and stage; rank = slice */
    struct ncclComm *of_ends; /**< the first stage and the last of this replica; for those between,
                                 one that they do not need */
} Grid;

/**
 * Puts a rank into the grid that the options ask for. Where several ranks have no technique, they
 * are replicas: options->ddp is set.
 *
 * @param[out]    grid    without communicators
 * @param[in,out] options checked
 * @param         rank    comm_rank()
 * @param         ranks   comm_size()
 * @param[out]    error   (ERROR_BYTES) one line without newline, where the result is -1
 * @return 0, or -1 where these ranks cannot be such a grid
 */
int grid_settle(Grid *grid, TrainOptions *options, int rank, int ranks, char *error);

/** Makes the communicators. Each rank calls it, after comm_connect(); `comm` owns them. */
void grid_connect(Grid *grid, Comm *comm);

/** The rank of replica 0 that has the same part of the model as `rank`. */
int grid_first(const Grid *grid, int rank);

/** Whether the loss that a rank reports counts: one slice of each stage. */
bool grid_counts(const Grid *grid, int rank);

#endif
