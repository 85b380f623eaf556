/**
 * @file bucket_list.h
 * @brief The judge's part of lab 11: which all-reduces a window has, in which groups.
 * @ingroup grader
 */
#ifndef GRADER_LABS_11_DATA_PARALLEL_BUCKET_LIST_H
#define GRADER_LABS_11_DATA_PARALLEL_BUCKET_LIST_H

#include "common/params.h"
#include "grader/judge_record.h"

enum { MOST_PARAMS = 640 };

/** The calls of one rank in a window, in their order. */
typedef struct BucketList {
    double bytes[MOST_PARAMS]; /**< of each all-reduce; -1 of another call */
    int bucket[MOST_PARAMS];   /**< that it is in, from 0 on */
    int count, buckets;        /**< calls, of which MOST_PARAMS are kept, and buckets */
    int others;                /**< calls other than all-reduces */
    const char *other;         /**< the name of the first of these; NULL: there is none */
} BucketList;

/** Said of a host that waits where it need not. */
extern const char bucket_host_waits_sentence[];

/** The part that parameter i of a model's list is in, in a model of L blocks. Parts are numbered as
    backward comes to them: 0 is the head, L + 1 the embedding. */
int bucket_part(int L, const Param *param, int i);

/** Whether a call stands in ddp.c. */
bool bucket_is_of_ddp(const CudasimEntry *e);

/** Adds a call of a record; it is in the bucket of the one before it, NULL for none, if both are
    of one group. */
void bucket_list_add(BucketList *list, const CudasimEntry *call, const CudasimEntry *before);

/** Whether both have the same buckets with the same calls. In a bucket they may be in any order:
    that all ranks have the same one, the simulator sees where sizes differ, and the sums where they
    do not. */
bool bucket_lists_same(const BucketList *got, const BucketList *want);

/** The first bucket that has other calls or bytes, in words. */
void bucket_lists_tell(const BucketList *got, const BucketList *want, char text[120]);

#endif
