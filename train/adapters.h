/**
 * @file adapters.h
 * @brief A run's adapters (lab 10): from the options or a folder, into its checkpoints, and merged.
 * @ingroup train
 *
 * All of it does nothing where a run has none.
 */
#ifndef TRAIN_ADAPTERS_H
#define TRAIN_ADAPTERS_H

#include "common/snapshot.h"
#include "train/run_state.h"

/**
 * Settles options->config.adapter: from --lora_target_modules and its neighbours, from the folder
 * of --adapter_name_or_path, or from the checkpoint that a run resumes from, whose adapter it has
 * to be.
 *
 * @param options the model's shape is settled
 * @param resumed the checkpoint's folder, or NULL
 * @return 0, or -1 with a line on stderr
 */
int adapters_settle(TrainOptions *options, const char *resumed);

/** Bytes of a step with adapters: replaces those of the four kinds that they change. */
void adapters_predict(const ModelConfig *config, int B, int T, Checkpoint checkpoint, Optim optim,
                      MemoryUse *use);

/** Gives a model's adapters their start, and sets how they run. */
void adapters_begin(Model *model, uint64_t seed);

/** Reads a model's adapters from a folder. @return 0, or -1 with a line on stderr */
int adapters_load(Model *model, const char *folder);

/** Makes a snapshot save and load the adapters too. */
void adapters_save_with(Snapshot *snapshot);

/** Says what is trained. */
void adapters_print(const ModelConfig *config);

/**
 * Merges, where --merge asks for it: says the validation loss before and after, and writes
 * OUTPUT_DIR/merged, a model without adapters.
 *
 * @return 0, or -1 with a line on stderr
 */
int adapters_merge(Run *run, double loss);

#endif
