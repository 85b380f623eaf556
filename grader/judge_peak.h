/**
 * @file judge_peak.h
 * @brief What a checkpointed step takes, from plain steps of the kit: for judges, which link no
 * lab's solution that a handout may not have.
 * @ingroup grader
 *
 * A plain step is measured, by running the kit's own model. One block more adds what a block keeps
 * and its output. Segments then take a few blocks at once instead of all.
 */
#ifndef GRADER_JUDGE_PEAK_H
#define GRADER_JUDGE_PEAK_H

#include "grader/judge_kit.h"

/** Bytes at the peak of a plain step on that many threads, without an optimizer. */
MemoryUse peak_plain(const ModelConfig *config, int B, int T, int threads);

/** Activations at the peak of a step, with segments or attention's probabilities run again. */
size_t peak_activations(const ModelConfig *config, int B, int T, Checkpoint checkpoint);

/**
 * The same, worked out: for models that no machine here holds. The judge holds it equal to what is
 * counted wherever it asks about a smaller one.
 */
size_t peak_worked_out(const ModelConfig *config, int B, int T, Checkpoint checkpoint);

/** Bytes of one block that keeps everything, with its output. */
size_t peak_of_block(const ModelConfig *config, int B, int T);

#endif
