/**
 * @file mistakes.h
 * @brief The judge's part of lab 06: what known mistakes would predict.
 * @ingroup grader
 */
#ifndef GRADER_LABS_06_FIT_MISTAKES_H
#define GRADER_LABS_06_FIT_MISTAKES_H

#include "grader/labs/06_fit/space.h"

/**
 * The known mistakes of one prediction.
 *
 * @param      space     all plans
 * @param      plan      whose bytes are predicted
 * @param      right     its bytes
 * @param[out] sentences what is said of each mistake
 * @param[out] uses      what each would predict
 * @return how many: at most 16
 */
int space_bytes_mistakes(const Space *space, const Plan *plan, MemoryUse right,
                         const char *sentences[], MemoryUse uses[]);

#endif
