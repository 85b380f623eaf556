/**
 * @file shards.h
 * @brief A run whose ranks share states, gradients and weights: `--zero`, by lab 12.
 * @ingroup train
 *
 * A checkpoint is that of a whole model (common/twin.h), so it can be resumed with any number of
 * ranks, at any stage, or without ZeRO.
 */
#ifndef TRAIN_SHARDS_H
#define TRAIN_SHARDS_H

#include "common/snapshot.h"
#include "train/grid.h"

/**
 * The model of a rank, with fresh weights, and trainer->zero. Its optimizer is that of
 * shards_learns().
 *
 * @param[out] trainer zero and model are set
 * @param      options with --zero
 * @param      grid    connected
 * @param      memory  borrowed
 */
void shards_open(Trainer *trainer, const TrainOptions *options, const Grid *grid, Memory *memory);

/** Frees trainer->zero; before its model is freed. NULL is fine. */
void shards_close(Trainer *trainer);

/** The model that the optimizer updates: the whole, or this rank's pieces of it, with
    `--offload_optimizer` those in host memory. */
Model *shards_learns(const Trainer *trainer);

/**
 * Bytes by kind at the peak, by the formulas of lab 12. With checkpointing or a head of another
 * kind it is taken to be in the backward of a block, and not in that of the head.
 *
 * @param use     of a run without --zero
 * @param options with --zero
 * @param grid    of this rank
 * @param B       sequences of a micro-batch
 */
MemoryUse shards_predict(MemoryUse use, const TrainOptions *options, const Grid *grid, int B);

/** Bytes by kind in host memory at the peak, of --offload_optimizer; none without it. */
MemoryUse shards_host(const Trainer *trainer);

/** The same by the formulas. */
MemoryUse shards_predict_host(const TrainOptions *options, const Grid *grid);

/**
 * Bytes that this rank sends in one update, as comm_sent() counts: the formula of lab 12, and what
 * the norm and the loss scaler ask. 0 where none says it: with checkpointing, weights come once
 * more for each block that runs again.
 */
double shards_sent(const TrainOptions *options, const Grid *grid);

/**
 * snapshot_save() of the whole. Each rank calls it.
 *
 * @param snapshot   of this rank's trainer
 * @param comm       the ranks
 * @param output_dir where it is written; NULL on a rank that writes nothing
 * @param limit      as for snapshot_save()
 * @return as snapshot_save(); 0 on the other ranks
 */
int shards_save(const Snapshot *snapshot, Comm *comm, const char *output_dir, int limit);

/** snapshot_load() of the whole, of which this rank takes its pieces. Waits for no other rank. */
int shards_load(Snapshot *snapshot, const char *folder);

/**
 * sample_text(), where the model takes all ranks: each calls it, and those that want no text give a
 * count of 0.
 */
void shards_sample(const Trainer *trainer, const char *prompt, int count, float temperature,
                   Rng *rng, unsigned char *text);

#endif
