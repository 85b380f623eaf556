/**
 * @file formulas.h
 * @brief The judge's part of lab 11, tasks 2 and 5: shards and predictions, worked out.
 * @ingroup grader
 */
#ifndef GRADER_LABS_11_DATA_PARALLEL_FORMULAS_H
#define GRADER_LABS_11_DATA_PARALLEL_FORMULAS_H

#include "grader/shape.h"

enum { SHARD_GIVES = 6, SHARD_GETS = 4 };

/** A question about shards: who, where, how many. */
typedef struct ShardAsked {
    uint64_t begin, rows, B, rank, ranks, turns;
} ShardAsked;

/** Its rows, the first of them, the row after the turns, and the turns that are left. */
void shard_right(const ShardAsked *asked, uint64_t right[SHARD_GETS]);

/** Bytes that each of shape->B ranks sends in a window. */
double right_sent(const Shape *shape);

/** A known mistake in that, or how to find the number. */
const char *sent_mistake(const Shape *shape, double got, double right);

/** Buckets of at least shape_bucket() bytes. */
int right_buckets(const Shape *shape);

/** The end of the last sum. */
double right_time(int buckets, const double *complete, const double *reduce);

#endif
