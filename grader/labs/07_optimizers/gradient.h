/**
 * @file gradient.h
 * @brief Judge of lab 07: gradients are only read.
 * @ingroup grader
 */
#ifndef GRADER_LABS_07_OPTIMIZERS_GRADIENT_H
#define GRADER_LABS_07_OPTIMIZERS_GRADIENT_H

#include "grader/check.h"

/**
 * Whether the gradients of a step came back with the bits that were given.
 *
 * @param check the check, which wanted "grad" of the step
 * @param given (n) all gradients of the step, end to end
 * @param n     how many
 * @param step  from 0 on
 * @param t     its number for the student
 */
bool gradient_expect_kept(Check *check, const float *given, size_t n, int step, int t);

#endif
