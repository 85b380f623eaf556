/**
 * @file counted.h
 * @brief The bytes of models with adapters, from steps of the kit that the judge counts.
 * @ingroup grader
 */
#ifndef GRADER_LABS_10_LORA_COUNTED_H
#define GRADER_LABS_10_LORA_COUNTED_H

#include "common/model.h"

/** The linear layers whose inputs nobody reads again: what lora_dropped() is to say. */
unsigned counted_dropped(const ModelConfig *config);

/** Weights, gradients, states, by adding up the tensors. */
MemoryUse counted_states(const ModelConfig *config);

/** Activations at the peak; `dropped` is model->dropped. */
size_t counted_activations(const ModelConfig *config, int B, int T, Checkpoint checkpoint,
                           unsigned dropped);

/** All bytes at the peak of a step with its optimizer. */
size_t counted_step(const ModelConfig *config, int B, int T, unsigned dropped, bool gpu);

#endif
