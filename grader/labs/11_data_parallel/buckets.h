/**
 * @file buckets.h
 * @brief The judge's part of lab 11, task 4: buckets in the record, and what they run beside.
 * @ingroup grader
 */
#ifndef GRADER_LABS_11_DATA_PARALLEL_BUCKETS_H
#define GRADER_LABS_11_DATA_PARALLEL_BUCKETS_H

#include "grader/labs/11_data_parallel/bucket_list.h"
#include "grader/labs/11_data_parallel/sums.h"

enum { MOST_PARTS = 8 };

/** A part of the backward of one rank's last micro-batch: the head, block L - 1, ..., embedding. */
typedef struct BackwardPart {
    const CudasimEntry *first, *last; /**< in the default stream */
    double seconds;                   /**< of its kernels, on the declared machine */
} BackwardPart;

/** One rank in the record. */
typedef struct BucketRank {
    BackwardPart part[MOST_PARTS];
    const CudasimEntry *call[MOST_PARAMS]; /**< all-reduces, in the order of its stream */
    int calls;
} BucketRank;

/** A run of one window, with its record. */
typedef struct BucketTrial {
    SumTrial *sums;
    int parts; /**< L + 2 */
    CudasimRecord record;
    BucketRank rank[MOST_RANKS];
    BucketList want;           /**< part after part */
    int last_part[MOST_PARTS]; /**< of each bucket, the part that closes it */
} BucketTrial;

/** A machine on which memory, arithmetic and links alone take time; `link` is set for each run. */
extern const Machine bucket_machine;

/** Runs a window whose buckets hold that many bytes. @return whether it ran, and the parts of its
    backward are in the record */
bool buckets_run(BucketTrial *trial, SumTrial *sums, int bucket_bytes);

/** All ranks have the same buckets, with the right parameters in any order. @return right */
bool buckets_expect_calls(BucketTrial *trial);

/** The same, for checks of the order: of other buckets nothing can be said. @return right */
bool buckets_expect_contracted(BucketTrial *trial);

/** Each bucket after what has filled it, beside the parts below, and before what follows. */
bool buckets_expect_order(BucketTrial *trial);

/** The end of the last sum on a declared machine. */
bool buckets_expect_makespan(BucketTrial *trial);

#endif
