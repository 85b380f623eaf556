/**
 * @file shards.h
 * @brief The judge's part of lab 11, task 2: the rows of an epoch that each rank has.
 * @ingroup grader
 */
#ifndef GRADER_LABS_11_DATA_PARALLEL_SHARDS_H
#define GRADER_LABS_11_DATA_PARALLEL_SHARDS_H

#include "grader/check.h"

/** How many rows a rank has, and where they begin. */
void shards_judge_rows(Check *check);

/** Where a window of some turns ends, and the turns of an epoch. */
void shards_judge_turns(Check *check);

#endif
