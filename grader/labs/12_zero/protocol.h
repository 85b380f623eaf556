/**
 * @file protocol.h
 * @brief What the judge and the probes of lab 12 say to each other.
 * @ingroup grader
 *
 * Beside what grader/probe_ranks.h and grader/probe_training.h name.
 */
#ifndef GRADER_LABS_12_ZERO_PROTOCOL_H
#define GRADER_LABS_12_ZERO_PROTOCOL_H

#include "grader/probe_ranks.h"

/** "ranks", of the cases of both programs. Micro-batch k of step s of rank
    r is batch (s * ZERO_MICROS + k) * R + r of those that are given. */
enum {
    ZERO_STAGE = RANKS_OWN, /**< 1, 2 or 3 */
    ZERO_STEPS,             /**< updates */
    ZERO_MICROS,            /**< micro-batches of an update on each rank */
    ZERO_SCALED,            /**< weights in half: the loss is scaled (lab 05), in f16 by a scaler;
                                 or ZERO_SCALED_BY_1 */
    ZERO_SPOILED,           /**< rank + 1 that has one infinite gradient; 0 for none */
    ZERO_SPOILED_PARAM,     /**< of which parameter, its first number */
    ZERO_SPOILED_BY,        /**< a ZeroBad: what it is in the first step. In the last one it is
                                 finite, and no float holds its square */
    ZERO_PREFETCH,          /**< the next unit is gathered while a part runs; 2: before that it is
                                 opened and closed ZERO_REPEATED times, and before the first part
                                 a unit is sent for that nobody needs. With 2, and on the GPU, more
                                 of these come after all steps */
    ZERO_AGAIN,             /**< a block comes and goes once more before its backward, as one that
                                 runs again does (lab 04) */
    ZERO_TINY,              /**< the last step's gradients have squares that no float holds; after
                                 all steps come the norm of "planted" gradients (P), which goes into
                                 "planted norm" (R), and ZERO_REPEATED norms */
    ZERO_TEXT,              /**< for "texts": numbers of a prompt; "counts" says how many to draw */
};

/** The norm and the rate of a report before anything is written; `skipped` is true. */
#define ZERO_NOT_REPORTED (-1.0f)

/** As often as a rank's heap cannot hold what each leaves. */
enum { ZERO_REPEATED = 80 };

/** Mistakes that the kit's program can make, to compare with; each is a case of that name. */
#define EACH_ZERO_MISTAKE(X)                                                                       \
    X(MISTAKE_NONE)        /* what is right */                                                     \
    X(MISTAKE_MEAN)        /* the sum is divided by R */                                           \
    X(MISTAKE_OWN)         /* each rank updates its part from its own gradients */                 \
    X(MISTAKE_LAST_MICRO)  /* only the last micro-batch is in the sum */                           \
    X(MISTAKE_OWN_NORM)    /* each rank clips by the norm of its own part */                       \
    X(MISTAKE_ROOTS)       /* the norms of the parts are added, and not their squares */           \
    X(MISTAKE_NOT_ZEROED)  /* the next window adds to the gradients of this one */                 \
    X(MISTAKE_OWN_FOUND)   /* only the rank whose part is not finite skips the update */           \
    X(MISTAKE_NOT_CLIPPED) /* the gradients are as large as they came */                           \
    X(MISTAKE_NOT_SKIPPED) /* the update is made in any case */                                    \
    X(MISTAKE_SCALED)      /* the loss scale is never taken back */

/** @cond */
#define ZERO_MISTAKE_NAME(mistake) mistake,
/** @endcond */

/** These. */
typedef enum ZeroMistake { EACH_ZERO_MISTAKE(ZERO_MISTAKE_NAME) ZERO_MISTAKES } ZeroMistake;

/** Numbers that are not finite. */
typedef enum ZeroBad {
    BAD_INFINITE,
    BAD_MINUS_INFINITE,
    BAD_NAN,
    BAD_NANS, /**< in the parameter's last number, too, which may be another rank's */
    ZERO_BADS
} ZeroBad;

/** Of ZERO_SCALED: the loss scale is 1, and a gradient may not be finite even so. */
enum { ZERO_SCALED_BY_1 = 2 };

/** A gradient whose square no float holds. */
#define ZERO_LARGE 1e30f

/** Bits of a weight that is the NaN of checked memory, which would look like one that was not
    handed back. */
#define ZERO_UNWRITTEN 0xfffffffe

/** Of each step, in the table "reports" (R, steps * REPORTED). */
enum {
    REPORTED_NORM,    /**< bits of the norm, a double */
    REPORTED_RATE,    /**< bits of the rate, a double */
    REPORTED_SKIPPED, /**< whether there was no update */
    REPORTED_SCALE,   /**< bits of the loss scale afterwards, a double */
    REPORTED_UPDATES, /**< of the optimizer, so far */
    REPORTED,
};

/** In the table "states" (R, STATES): bytes that stay, and those of gathered units at most. */
enum {
    STAYS_WEIGHTS,
    STAYS_GRADIENTS,
    STAYS_OPTIMIZER,
    LANE_WEIGHTS,
    LANE_GRADIENTS,
    STATES,
};

/** In the table "parts" (R, ZERO_MOST_PARTS, PLACES), of a run that is recorded: the entries that
    there were at each place of a part, of all micro-batches one after the other. "closed" (R)
    likewise: when zero_close() had returned. */
enum { ZERO_MOST_PARTS = 24 };

/** Places of a part. */
enum {
    PLACE_ENTERED, /**< before its zero_enter() */
    PLACE_BEGAN,   /**< after it */
    PLACE_ENDED,   /**< before its zero_leave() */
    PLACES,
};

/** In the table "texts" (R, TEXT_NUMBERS). */
enum {
    TEXT_STEPS, /**< that zero_generate() says */
    TEXT_MORE,  /**< that it says once more, when all texts are drawn */
    TEXT_RUNS,  /**< that the rank has made */
    TEXT_DRAWN, /**< tokens, TEXT_MOST of them */
    TEXT_MOST = 8,
    TEXT_NUMBERS = TEXT_DRAWN + TEXT_MOST,
};

#endif
