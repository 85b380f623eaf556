/**
 * @file formulas.h
 * @brief The judge's part of lab 11, task 5: predictions, worked out.
 * @ingroup grader
 */
#ifndef GRADER_LABS_11_DATA_PARALLEL_FORMULAS_H
#define GRADER_LABS_11_DATA_PARALLEL_FORMULAS_H

#include "grader/shape.h"

/** Bytes that each of shape->B ranks sends in a window. */
double right_sent(const Shape *shape);

/** A known mistake in that, or how to find the number. */
const char *sent_mistake(const Shape *shape, double got, double right);

/** Buckets of at least shape_bucket() bytes. */
int right_buckets(const Shape *shape);

/** The end of the last sum. */
double right_time(int buckets, const double *complete, const double *reduce);

#endif
