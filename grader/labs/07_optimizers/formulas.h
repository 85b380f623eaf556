/**
 * @file formulas.h
 * @brief Judge of lab 07: bytes of states, and the choice of an optimizer.
 * @ingroup grader
 */
#ifndef GRADER_LABS_07_OPTIMIZERS_FORMULAS_H
#define GRADER_LABS_07_OPTIMIZERS_FORMULAS_H

#include "grader/check.h"
#include "grader/labs/07_optimizers/protocol.h"

enum { SECONDS = 20 /**< for a run of the probe */ };

/** Asks for the bytes of many models with each optimizer. */
void bytes_expect(Check *check);

/** Asks for optimizer and plan in many budgets. */
void optims_expect(Check *check);

#endif
