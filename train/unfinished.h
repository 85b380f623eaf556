/**
 * @file unfinished.h
 * @brief What a student's formulas of lab 00 predict already, where a later one is still a hole.
 * @ingroup train
 */
#ifndef TRAIN_UNFINISHED_H
#define TRAIN_UNFINISHED_H

#include "common/device.h"
#include "common/memory.h"

/**
 * Prints a line for each kind of bytes that is predicted already, with the bytes that were counted
 * beside it. Prints nothing where all are, or none is. It predicts in a process of its own, since
 * a hole ends the process that meets it.
 *
 * @param config  the model
 * @param B       sequences
 * @param T       tokens per sequence
 * @param device  where it runs
 * @param counted the bytes of one step
 */
void unfinished_show(const ModelConfig *config, int B, int T, const Device *device,
                     const MemoryUse *counted);

#endif
