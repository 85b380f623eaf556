/**
 * @file protocol.h
 * @brief What the judge and the probe of lab 08 say to each other.
 * @ingroup grader
 */
#ifndef GRADER_LABS_08_PREFETCH_PROTOCOL_H
#define GRADER_LABS_08_PREFETCH_PROTOCOL_H

#include "grader/probe_training.h"

/** The "options" of the cases "batches" and, from pageable memory, "pageable". */
enum {
    FEED_SLOTS,     /**< of the prefetch */
    FEED_TOKENS,    /**< of the largest batch */
    FEED_LOSS,      /**< the host reads a number in the middle of the work on each batch */
    FEED_WORK,      /**< KiB that the work on a batch reads and writes, as the record has it */
    FEED_COPY_BACK, /**< the work copies the batch, which is handed back */
    FEED_AGAIN,     /**< another prefetch is opened and closed before, another while this one is
                         open, and another is closed early */
    FEED_OPTIONS,
};

/** "actions", one after the other. */
enum {
    ACTION_NEXT, /**< prefetch_next() */
    ACTION_STOP, /**< prefetch_stop() */
};

/** "reads": what the reader gives, one call after the other: the number of a batch, or this. */
enum {
    READ_END = -1,   /**< 0 */
    READ_FAILS = -2, /**< -1 */
};

/** Of each action, in "seen". */
enum {
    SEEN_RESULT, /**< of prefetch_next() */
    SEEN_B,      /**< batch.B */
    SEEN_T,      /**< batch.T */
    SEEN_VALID,  /**< batch.valid */
    SEEN_CALLS,  /**< of the reader, so far */
    SEEN_NUMBERS,
};

/** B, T and valid of the batch before prefetch_next(), and after it where there is none. */
enum { SEEN_BEFORE = 77 };

/** Of memory, in "bytes". */
enum {
    BYTES_DEVICE, /**< of the lane, at most */
    BYTES_LEFT,   /**< in the lane, after prefetch_close() */
    BYTES_PINNED, /**< of pinned memory that exists even then */
    BYTES_KEPT,   /**< streams and events that do */
    BYTES_HEAP,   /**< large slots, opened and closed, whose pageable memory does */
    BYTES_EACH,   /**< of the heap, that each of several openings and closings leaves */
    BYTES_HOST,   /**< of pinned memory, before prefetch_close() */
    BYTES_DATA,   /**< of kind data, before prefetch_close() */
    BYTES_NUMBERS,
};

/** The bytes of a batch of the other prefetch that is open beside this one: no other has so few. */
enum { BESIDE_BYTES = 8 };

/** Bytes of pinned memory that a batch or an input may have beside its own: for alignment. */
enum { SPARE_BYTES = 256 };

/** The events of the reader: the kind of memory that it is given. */
enum { TOLD_PINNED = 'p', TOLD_PAGEABLE = 'g' };

/** The name of the work on a batch, and of the place where nothing may be in flight. */
#define WORK_NAME "work"

/** All that exists after offload_close(), in "kept" of the case "offloaded". */
enum {
    PASS_PINNED, /**< bytes of pinned memory */
    PASS_KEPT,   /**< streams and events */
    PASS_EACH,   /**< bytes of the heap, that each of several openings and closings leaves */
    PASS_HOST,   /**< bytes of pinned memory before offload_close() */
    PASS_LEFT_NUMBERS,
};

/** The "options" of the cases "offloaded" and "plain". */
enum {
    PASS_SEGMENT, /**< blocks of a segment */
    PASS_WINDOW,  /**< micro-batches of a step */
    PASS_AGAIN,   /**< another offload is opened and closed before, another while this one is open,
                       another is used amid a pass, and another is closed early */
    PASS_PASSES,  /**< micro-batches, from the first on */
    PASS_OPTIONS,
};

#endif
