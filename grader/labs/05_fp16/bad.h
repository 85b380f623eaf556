/**
 * @file bad.h
 * @brief Lab 05 in the judge: windows in which gradients are not finite.
 * @ingroup grader
 */
#ifndef GRADER_LABS_05_FP16_BAD_H
#define GRADER_LABS_05_FP16_BAD_H

#include "grader/check.h"

/** That a window is skipped for inf, -inf and NaN in each tensor, after each micro-batch. */
void bad_judge_each(Check *check);

/** Compares the trace of 30 windows, of which some are skipped. */
void bad_judge_trace(Check *check);

#endif
