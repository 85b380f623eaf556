/**
 * @file protocol.h
 * @brief What the judge of lab 14 and its probe say to each other.
 * @ingroup grader
 *
 * Ranks are those of grader/probe_ranks.h. Each is given its slice of all parameters and of all
 * gradients that are there before, end to end: rank_name("weights", r), rank_name("before", r);
 * and "rows" (R, 2): first and count of its rows of the embedding.
 */
#ifndef GRADER_LABS_14_TENSOR_PROTOCOL_H
#define GRADER_LABS_14_TENSOR_PROTOCOL_H

#include "grader/probe_ranks.h"

/** Of "ranks". */
enum {
    TP_ID = RANKS_OWN, /**< a LinearId */
    TP_LAYER,          /**< of which block */
    TP_B,              /**< sequences */
    TP_T,              /**< tokens of each */
    TP_BACKWARD,       /**< backward runs too */
    TP_STEPS,          /**< updates, of passes in which all blocks but the last run again */
    TP_NAMES,          /**< the tensors of embedding and head have the contract's names */
    TP_EVALUATE,       /**< before the passes a smaller model is evaluated, and after them the
                            first batch: "eval" (R) */
};

/** Norms of "norm": as many as a rank's heap cannot hold what each leaves. The first is that of
    another model, and the second counts. */
enum { TP_NORMS = 80 };

/** The updates of "steps": a large epsilon, so that an update depends on the gradient's size and no
    rounding decides where a weight goes. */
#define TP_ADAMW                                                                                   \
    { .beta1 = 0.9f, .beta2 = 0.95f, .epsilon = 0.02f, .weight_decay = 0.1f }
/** Their rate. */
#define TP_RATE 1e-2f
/** The norm to which they clip. */
#define TP_CLIP 0.5f

/** Questions about slices: "asked" (n, 4) as WIRE_I32, a "config" for all. */
enum {
    ASKED_AT,      /**< index of the parameter */
    ASKED_RANKS,   /**< R */
    ASKED_RANK,    /**< which */
    ASKED_NUMBERS, /**< how many */
};

/** A rank's gradients after an overflow: in "overflow" (R, cases). */
enum {
    OVERFLOW_NONE,    /**< all are finite, and as before */
    OVERFLOW_CHANGED, /**< all are finite, and not as before */
    OVERFLOW_FOUND,   /**< one is not finite */
};

#endif
