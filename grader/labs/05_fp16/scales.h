/**
 * @file scales.h
 * @brief Lab 05 in the judge: one window at several scales, where half holds every gradient.
 * @ingroup grader
 */
#ifndef GRADER_LABS_05_FP16_SCALES_H
#define GRADER_LABS_05_FP16_SCALES_H

#include "grader/check.h"

/** That scales 2^10, 2^12 and 2^14 give the same bits: those of the kit's own half at 2^10. */
void scales_judge(Check *check);

#endif
