/**
 * @file more.h
 * @brief Judge of lab 03: what comes after the windows of a check. Its passes only count, so that
 * how windows follow each other is seen, and nothing else.
 * @ingroup grader
 */
#ifndef GRADER_LABS_03_ACCUMULATE_MORE_H
#define GRADER_LABS_03_ACCUMULATE_MORE_H

#include "grader/windows.h"

/** Wants all that may come back. */
void accumulate_want_more(Check *check);

/** Whether skipped updates have not ticked. */
void accumulate_expect_skipped(const Windows *windows);

/** By hand: a window of many micro-batches. */
void accumulate_expect_long(Check *check);

/** An accumulator alone, then two side by side, of more targets than 32 bits count. */
void accumulate_expect_pair(Check *check);

/** An accumulator that is used for several epochs, and for other data. */
void accumulate_expect_reused(Check *check);

/** Where the data stand after report() has said stop, and after one more call. */
bool accumulate_expect_position(const Windows *windows);

/** The windows of the rest of an epoch, from where the data stand. */
void accumulate_expect_rest(const Windows *windows);

#endif
