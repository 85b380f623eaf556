/**
 * @file names.h
 * @brief The judge's part of target_modules: the layers that a name stands for.
 * @ingroup grader
 */
#ifndef GRADER_LABS_10_LORA_NAMES_H
#define GRADER_LABS_10_LORA_NAMES_H

#include "grader/check.h"

/** The layer whose name this is in full, "attn.c_attn", as a target; 0 where it is of none. */
unsigned names_target(const char *name);

/** Asks for the layers of many names, and judges them. */
void names_judge_targets(Check *check);

#endif
