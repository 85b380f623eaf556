/**
 * @file protocol.h
 * @brief What the judge and the probe of lab 03 say to each other, beside what all windows do.
 * @ingroup grader
 */
#ifndef GRADER_LABS_03_ACCUMULATE_PROTOCOL_H
#define GRADER_LABS_03_ACCUMULATE_PROTOCOL_H

#include "grader/probe_windows.h"

/** The run that is asked for. */
enum {
    OPTION_MICROS = OPTION_OWN, /**< micro-batches of a full window */
    OPTION_EPOCHS,              /**< times that the data are gone through */
    OPTION_STOP,                /**< windows after which report() says stop; 0 for never */
    OPTION_MORE,                /**< more windows afterwards, of passes that only count */
};

enum {
    MORE_RUNS = 5,    /**< by hand one long window; two accumulators: alone, side by side, again */
    MORE_LONG = 70,   /**< micro-batches of the long one */
    MORE_SIDE = 8191, /**< sequences, and tokens of each, of every micro-batch of it: the square
                           is odd, and no float counts so far by ones */
    MORE_MICROS = 3,  /**< of the others, and of those of the rest of an epoch */
    MORE_REPORTS = 8, /**< of the rest of an epoch, at most */
    MORE_REUSED = 5,  /**< windows of one accumulator: two epochs of four, then other data */
};

/** The loss of each target in passes that only count; of the second trainer's one more. */
#define MORE_LOSS 2

#endif
