/**
 * @file choice.h
 * @brief Judge of lab 07: the choice of an optimizer, and of a plan for its blocks.
 * @ingroup grader
 */
#ifndef GRADER_LABS_07_OPTIMIZERS_CHOICE_H
#define GRADER_LABS_07_OPTIMIZERS_CHOICE_H

#include "grader/check.h"
#include "grader/labs/07_optimizers/protocol.h"

/** Asks for optimizer and plan in many budgets. */
void optims_expect(Check *check);

#endif
