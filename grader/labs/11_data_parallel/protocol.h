/**
 * @file protocol.h
 * @brief What the judge and the probes of lab 11 say to each other.
 * @ingroup grader
 *
 * Beside what grader/probe_ranks.h and grader/probe_training.h name.
 */
#ifndef GRADER_LABS_11_DATA_PARALLEL_PROTOCOL_H
#define GRADER_LABS_11_DATA_PARALLEL_PROTOCOL_H

#include "grader/probe_ranks.h"
#include "grader/shape.h"

/** "ranks", of the cases "windows" and "alone". Micro-batch k of window w of rank r is batch
    (w * DDP_MICROS + k) * R + r of those that are given. */
enum {
    DDP_BUCKET = RANKS_OWN, /**< bucket_bytes */
    DDP_WINDOWS,            /**< windows; 0: the judge is given blank ones */
    DDP_MICROS,             /**< micro-batches of a window on each rank */
    DDP_UPDATES,            /**< each window ends with an update */
    DDP_SCALED,             /**< weights in half: the loss has a scaler (lab 05) */
    DDP_SEGMENT,            /**< blocks of a segment (lab 04); 0 for none */
    DDP_SPOILED,            /**< rank + 1 whose first gradient is infinite; 0 for none */
    DDP_STARTS,             /**< each rank begins with weights of its own */
    DDP_REOPENED,           /**< how often another Ddp comes and goes beside the one that is used */
    DDP_FROZEN,             /**< parameter + 1 that has no gradient; 0 for none */
    DDP_RECORDED,           /**< with DDP_STARTS: the record begins at the last op on weights */
};

/** Where ranks begin with weights of their own, those of a rank are that many times the right ones:
    no mean of all is another's. */
#define DDP_OWN(rank) (1 + (rank) * ((rank) + 1) / 2)

/** And that many times as large before the last op on them: a power of 2, and more than those. */
#define DDP_EARLY 16

/** "ranks", of the case "ring". */
enum {
    RING_COUNTS = RANKS_OWN, /**< how many arrays: "counts" has the numbers of each, and "largest"
                                  (WIRE_U64) those of its largest chunk */
    RING_PARTED, /**< then the last array by rank 0 alone, and by the others: "parted" */
};

/** "ranks", of the case "leaves": windows in which no model runs, and ddp_leave() is called for
    each part as if one did. All Ddps are opened, and then each has its windows, one after the
    other: "sizes" (WIRE_U64) has its bucket_bytes, "windows" (WIRE_I32) how many they are, and
    "adapted" (WIRE_I32) whether it is for a model with the adapters of "config", or for one
    without. */
enum {
    LEAVES_MICROS = RANKS_OWN, /**< micro-batches of a window */
};

enum {
    LEAVES_SIZES = 3,  /**< Ddps */
    LEAVES_TURNED = 1, /**< the one whose communicator counts ranks from the last */
    LEAVES_AMID = 2,   /**< has micro-batches amid those of that one, none the last of a window */
};

/** Places in the record of that case: fills of a number of bytes that tells which. */
typedef enum LeavesMark {
    LEAVES_OPENED = 4096 + 16, /**< a Ddp comes to its windows */
    LEAVES_MICRO = 4096 + 32,  /**< a micro-batch begins */
    LEAVES_ENDED = 4096 + 48,  /**< the last window is over, and ddp_close() follows */
    LEAVES_CLOSED = 4096 + 64, /**< and has returned; in a stream that waits for no other */
    LEAVES_BYTES = 8192,       /**< that are enough for all of them */
} LeavesMark;

/** Numbers of an array that no device has: of it "scratch" is asked alone. */
#define RING_LARGE (((size_t)1 << 35) + 5)

/** Bytes of the buckets that a shape asks for: T of them, which is an int, B - 1 times doubled. */
static inline size_t shape_bucket(const Shape *shape) {
    return (size_t)shape->T << (shape->B - 1);
}

/** Of each window, in the table "reports" (R, windows * REPORT_NUMBERS). */
enum {
    REPORT_LOSS,    /**< bits of the rank's sum of losses, a double */
    REPORT_NORM,    /**< bits of the norm, a double */
    REPORT_SKIPPED, /**< whether there was no update */
    REPORT_NUMBERS,
};

#endif
