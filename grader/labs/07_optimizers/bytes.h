/**
 * @file bytes.h
 * @brief Judge of lab 07: bytes of an optimizer's states.
 * @ingroup grader
 */
#ifndef GRADER_LABS_07_OPTIMIZERS_BYTES_H
#define GRADER_LABS_07_OPTIMIZERS_BYTES_H

#include "grader/check.h"
#include "grader/labs/07_optimizers/protocol.h"

/** Bytes of all states of an optimizer, with the masters of weights in half. */
uint64_t bytes_of_states(const ModelConfig *config, Optim optim);

/** Asks for the bytes of many models with each optimizer. */
void bytes_expect(Check *check);

#endif
