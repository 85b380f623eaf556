/**
 * @file snapshot.h
 * @brief The folder `checkpoint-N/`: everything that a run needs to go on, bit for bit.
 * @ingroup common
 *
 *     config.json, model.safetensors      the model, as Hugging Face transformers reads it
 *     optimizer.safetensors               moments, float masters of weights in half, step count
 *     trainer_state.json                  schedule, loss scaler, place in the data, place in the
 *                                         random stream
 *
 * A folder is written under another name, synced, and renamed once: one that is found is
 * complete, whenever the writer was killed.
 */
#ifndef COMMON_SNAPSHOT_H
#define COMMON_SNAPSHOT_H

#include "common/trainer.h"

/** The objects that a snapshot saves. */
typedef struct Snapshot {
    Trainer *trainer;   /**< model, optimizer, schedule */
    Data *data;         /**< its position */
    double loss_sum;    /**< losses since the last line of the log, for the next one */
    size_t loss_tokens; /**< tokens since then */

    /** Saves what else belongs to the model, as its adapters, in files of its own in the folder;
        0, or -1 with a line on stderr. NULL for nothing. */
    int (*save_more)(const Model *model, const char *folder);
    /** Loads it again, with the same results. NULL for nothing. */
    int (*load_more)(Model *model, const char *folder);
} Snapshot;

/**
 * Writes `output_dir/checkpoint-N`, replacing one of the same step, and removes the oldest
 * ones beyond the limit.
 *
 * @param snapshot   what to save
 * @param output_dir an existing folder
 * @param limit      how many to keep; 0 for all
 * @return 0, or -1 with a line on stderr; then no folder of this step has appeared or changed
 */
int snapshot_save(const Snapshot *snapshot, const char *output_dir, int limit);

/**
 * Restores what snapshot_save() wrote. The model must have the shape of the folder's config.json,
 * and the precision that was saved. Weights in half become what their masters round to.
 *
 * @param snapshot with a trainer and data made from the same options; filled
 * @param folder   a checkpoint-N folder
 * @return 0, or -1 with a line on stderr
 */
int snapshot_load(Snapshot *snapshot, const char *folder);

/**
 * The newest checkpoint-N in a folder.
 *
 * @return its path, to be given to free(); NULL if there is none
 */
char *snapshot_latest(const char *output_dir);

/** Removes what a killed writer may have left in a folder. */
void snapshot_clean(const char *output_dir);

#endif
