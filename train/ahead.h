/**
 * @file ahead.h
 * @brief A text that is read and copied to the device ahead of the training loop, by lab 08.
 * @ingroup train
 */
#ifndef TRAIN_AHEAD_H
#define TRAIN_AHEAD_H

#include "common/memory.h"
#include "labs/08_prefetch/contract.h"
#include "train/options.h"

/**
 * From now on data_next() hands out batches that are on the device; `workers` more are on their way
 * there.
 *
 * @param data    the text, of which nothing is handed out
 * @param memory  where slots come from
 * @param options --dataloader_num_workers, at least 1, and --dataloader_pin_memory
 * @return to be given to ahead_close() before data and memory are freed
 */
Prefetch *ahead_open(Data *data, Memory *memory, const TrainOptions *options);

/** Data are read as before again. */
void ahead_close(Prefetch *prefetch, Data *data);

#endif
