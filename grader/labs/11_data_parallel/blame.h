/**
 * @file blame.h
 * @brief Which known mistake has made the sums of lab 11 what they are.
 * @ingroup grader
 */
#ifndef GRADER_LABS_11_DATA_PARALLEL_BLAME_H
#define GRADER_LABS_11_DATA_PARALLEL_BLAME_H

#include "grader/labs/11_data_parallel/sums.h"

/** sums_expect_gradients() */
bool blame_gradients(SumTrial *trial);

/** The parameter that number *i of all is in; *i becomes its place there. */
const Param *sums_param(const SumTrial *trial, size_t *i);

#endif
