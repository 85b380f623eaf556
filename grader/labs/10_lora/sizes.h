/**
 * @file sizes.h
 * @brief The judge's part of the formulas: models with adapters, and the counts of known mistakes.
 * @ingroup grader
 */
#ifndef GRADER_LABS_10_LORA_SIZES_H
#define GRADER_LABS_10_LORA_SIZES_H

#include "grader/quiz.h"

/** A model with an adapter, drawn. */
ModelConfig sizes_config(Check *check, Precision precision, Attention attention, bool dropout);

/** Gives the adapters of all shapes. */
void sizes_give_adapters(const Quiz *quiz);

/** Weights, gradients and states of one answer. */
void sizes_expect_states(Check *check, const char *name, const ModelConfig *config);

/** The inputs that can go, of one answer. */
void sizes_expect_dropped(Check *check, const char *name, const ModelConfig *config);

/** Asks for the activations of a dozen shapes, and judges them. */
void sizes_ask_activations(Check *check, bool checkpointed);

#endif
