/**
 * @file stages.h
 * @brief Which entries of a record are the copy of a batch, and the work on it.
 * @ingroup grader
 */
#ifndef GRADER_LABS_08_PREFETCH_STAGES_H
#define GRADER_LABS_08_PREFETCH_STAGES_H

#include "grader/labs/08_prefetch/feed.h"

/** Finds the stages of a run that is recorded, and the mistakes that they show. @return whether
    copies and work are those of the batches; if not, the check has failed */
bool stages_find(FeedRun *run);

/** Whether the copies of each batch that was read have its bytes; if not, the check has failed. */
bool stages_expect_bytes(FeedRun *run);

/** Whether the reader has told this letter: TOLD_PINNED or TOLD_PAGEABLE. */
bool stages_told(const FeedRun *run, char letter);

/**
 * Whether what a hand-in opens and closes leaves nothing on the heap, and is closed when its copies
 * are over; says it if not.
 *
 * @param record of a run that closes while a copy is in flight
 * @param name   "prefetch" or "offload": of the file and its functions
 * @param from   the entry from which on it closes: what is closed before has no copies of its own
 * @param heap   bytes that each opening leaves
 */
bool stages_expect_closed(Check *check, const CudasimRecord *record, const char *name,
                          uint64_t from, uint64_t heap);

/** The last event that this file of the probe records; 0: there is none. */
uint64_t stages_marked(const CudasimRecord *record, const char *file);

/** The entry after which a run's prefetch is closed. */
uint64_t stages_closed(const FeedRun *run);

/** Whether this call was made in the hand-in's file of that name. */
bool entry_is_of(const CudasimEntry *e, const char *file);

#endif
