/**
 * @file unfinished.h
 * @brief What a student's formulas of lab 00 predict already, where a later one is still a hole.
 * @ingroup train
 */
#ifndef TRAIN_UNFINISHED_H
#define TRAIN_UNFINISHED_H

#include <stdbool.h>

#include "common/device.h"
#include "common/memory.h"

/**
 * Predicts in a process of its own, since a hole ends the process that meets it.
 *
 * @param      config    the model
 * @param      B         sequences
 * @param      T         tokens per sequence
 * @param      device    where it will run
 * @param[out] predicted the bytes of the kinds that are known; 0 for the others
 * @return how many kinds are known, from the first one on: none, those that stay, the activations
 *         too, or MEMORY_KINDS
 */
int unfinished_predict(const ModelConfig *config, int B, int T, const Device *device,
                       MemoryUse *predicted);

/**
 * Prints a line for each kind that is known, with the bytes that were counted beside it.
 *
 * @param counted   bytes of one step
 * @param predicted by unfinished_predict()
 * @param known     its result
 */
void unfinished_print(const MemoryUse *counted, const MemoryUse *predicted, int known);

#endif
