/**
 * @file cuts.h
 * @brief The judge of lab 14: slices of parameters, number by number.
 * @ingroup grader
 */
#ifndef GRADER_LABS_14_TENSOR_CUTS_H
#define GRADER_LABS_14_TENSOR_CUTS_H

#include "grader/labs/14_tensor/ranked.h"

/** Judges slices that are cut from the whole, or put back into it. */
void cuts_judge(Check *check, bool join);

#endif
