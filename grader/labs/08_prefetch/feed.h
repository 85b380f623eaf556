/**
 * @file feed.h
 * @brief The judge's part of lab 08, tasks 1 to 3: batches that go through a submission's slots,
 * and the order of copies and work in the record.
 * @ingroup grader
 */
#ifndef GRADER_LABS_08_PREFETCH_FEED_H
#define GRADER_LABS_08_PREFETCH_FEED_H

#include "grader/judge_profile.h"
#include "grader/judge_record.h"
#include "grader/judge_training.h"
#include "grader/labs/08_prefetch/protocol.h"

enum { MOST_ACTIONS = 40, MOST_READS = 40 };

/** Of one batch that was handed out, in the record. */
typedef struct FeedStage {
    int batch;                   /**< which of those that are given */
    const CudasimEntry *copy[2]; /**< to the device, the first and the last of them */
    const CudasimEntry *work;    /**< the kernel */
    const CudasimEntry *reader;  /**< the last that reads it in the default stream */
} FeedStage;

/** Ways in which copies and work are ordered wrongly, known from the record. */
typedef enum FeedMistake {
    FEED_PAGEABLE,   /**< the host memory is not pinned */
    FEED_NO_COPIED,  /**< work before its copy */
    FEED_NO_USED,    /**< copy over a batch that is still read */
    FEED_IN_DEFAULT, /**< copies in the default stream */
    FEED_HOST_WAITS, /**< the host waits in the loop */
    FEED_NOT_AHEAD,  /**< nothing is read ahead */
    FEED_WAITS_NEXT, /**< work waits for the next batch's copy */
    FEED_MISTAKES,
} FeedMistake;

/** A run: what is given, and what is right. */
typedef struct FeedRun {
    Check *check;
    int32_t option[FEED_OPTIONS];
    Batch batch[MOST_BATCHES];
    int batches;
    bool again; /**< these inputs were given before, with other options and reads */
    int32_t reads[MOST_READS], actions[MOST_ACTIONS];
    int read_count, action_count;

    int32_t seen[MOST_ACTIONS][SEEN_NUMBERS]; /**< what is right */
    int handed[MOST_ACTIONS];                 /**< the batch that an action hands out; -1: none */

    CudasimRecord record;
    FeedStage stage[MOST_ACTIONS]; /**< of batches that were handed out */
    int stages;
    const CudasimEntry *mark[MOST_ACTIONS]; /**< where nothing may be in flight */
    int marks;
    size_t copied;               /**< bytes to the device by the submission */
    bool present[FEED_MISTAKES]; /**< mistakes that the record shows */
} FeedRun;

/** Batches of several shapes, the last one short; nothing is done with them yet. */
FeedRun *feed_new(Check *check, int slots);

/** The same batches, actions and reads through another number of slots. It runs after `run` has. */
FeedRun *feed_in_slots(const FeedRun *run, int slots);

/** Reads: `count` batches from `first` on, then the end or a failure. */
void feed_reads(FeedRun *run, int first, int count, int32_t then);

/** So many times the same action. */
void feed_actions(FeedRun *run, int32_t action, int count);

/** Runs it; works out what is right, reads the record, finds mistakes. @return whether it ran */
bool feed_run(FeedRun *run);

/** The same batches once more, from pageable memory; of the record only bytes are looked at, and
    what memory the reader was given. */
bool feed_run_pageable(const FeedRun *run);

/** A comparison, with all known mistakes as suspects. @return right */
bool feed_compared(const FeedRun *run, bool right, const char *seen);

/** Results, shapes, calls of the reader: whether each is right. */
bool feed_expect_seen(const FeedRun *run);

/** The batches that were handed out, bit by bit. */
bool feed_expect_batches(const FeedRun *run);

/** Each work after its copy, each copy after the work that was in its slot. */
bool feed_expect_edges(const FeedRun *run);

/** The copies of the next slots - 1 batches may run beside the work on each. */
bool feed_expect_overlap(const FeedRun *run);

/** prefetch_close() gives back all host memory, streams and events. */
bool feed_expect_given_back(const FeedRun *run);

/** Where the prefetch has ended or stopped, all copies are over, as far as the host knows. */
bool feed_expect_landed(const FeedRun *run);

#endif
