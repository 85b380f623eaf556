/**
 * @file rules.h
 * @brief The rules of optimizers other than AdamW: their states, and the ops that update them.
 * @ingroup common
 *
 * Bytes of states, beside the masters that weights in half have with every rule:
 *
 *     adamw         8 for each number
 *     adamw_8bit    2 for each number and 8 for each block of 256, in tensors of ADAM8_LEAST
 *                   numbers or more; 8 for each number in shorter ones
 *     adafactor     4 for each row and each column of a matrix, and for each number of a vector
 */
#ifndef COMMON_RULES_H
#define COMMON_RULES_H

#include "common/optimizer.h"

/** The numbers of an Adafactor update: the settings that Hugging Face's Trainer takes, which has no
    option for them, and the learning rate and decay of `adamw`. */
Adafactor adafactor_numbers(AdamW adamw);

/**
 * The rule of an optimizer.
 *
 * @param optim     which
 * @param codebooks of OPTIM_ADAMW_8BIT, borrowed for as long as the rule is used; NULL for others
 */
OptimizerRule rule_of(Optim optim, const Codebooks *codebooks);

/** "adamw", "adafactor" or "adamw_8bit". */
const char *optim_name(Optim optim);

#endif
