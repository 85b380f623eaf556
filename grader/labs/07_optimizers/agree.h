/**
 * @file agree.h
 * @brief Judge of lab 07: whether what came back lies within its limits.
 * @ingroup grader
 */
#ifndef GRADER_LABS_07_OPTIMIZERS_AGREE_H
#define GRADER_LABS_07_OPTIMIZERS_AGREE_H

#include "common/testkit/compare.h"

/** The result of a comparison. */
typedef struct Agreement {
    char seen[300]; /**< where numbers do not agree, and how; "" while they do */
    double nearest; /**< the largest share of its limit that one took which agrees */
} Agreement;

/** Whether a number lies within the limit of the right one, or both are not finite. */
bool agrees(Agreement *a, double got, double want, double limit);

/**
 * Whether each number of a tensor does. A step may cancel most of the weight that it starts from,
 * and keeps that weight's rounding.
 *
 * @param a         the result
 * @param got       (n) what came back
 * @param want      (n) the right numbers
 * @param before    (n) the weights before the step; NULL for what no step cancels
 * @param n         numbers
 * @param tolerance `relative` of the number, `scaled` of the tensor's largest
 * @param name      "weight"
 * @param tensor    its place in the list
 */
bool tensor_agrees(Agreement *a, const float *got, const double *want, const float *before,
                   size_t n, Tolerance tolerance, const char *name, int tensor);

#endif
