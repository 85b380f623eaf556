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
    DDP_WINDOWS,            /**< windows */
    DDP_MICROS,             /**< micro-batches of a window on each rank */
    DDP_UPDATES,            /**< each window ends with an update */
    DDP_SCALED,             /**< weights in half: the loss has a scaler (lab 05) */
    DDP_SEGMENT,            /**< blocks of a segment (lab 04); 0 for none */
    DDP_SPOILED,            /**< rank + 1 whose first gradient is infinite; 0 for none */
    DDP_STARTS,             /**< each rank begins with weights of its own */
    DDP_REOPENED,           /**< how often a Ddp is opened and closed before the one that is used */
    DDP_FROZEN,             /**< parameter + 1 that has no gradient; 0 for none */
};

/** "ranks", of the case "ring". */
enum {
    RING_COUNTS = RANKS_OWN, /**< how many arrays: "counts" has the numbers of each */
    RING_ALONE,              /**< the first array is summed by each rank alone, too: "alone" */
};

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
