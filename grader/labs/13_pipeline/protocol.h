/**
 * @file protocol.h
 * @brief What the judge and the probes of lab 13 say to each other.
 * @ingroup grader
 *
 * The case "windows" and the kit's "plain" are given what grader/probe_training.h names, "ranks"
 * with the numbers below, "share" (a float for each window) and "parts": the first block of each
 * stage, and the block after its last. Of each rank and window come back the gradients, and rows
 * of "losses", "streams", "norms" and "evals". "windows_on_gpu" and "plain_on_gpu" are the same
 * on simulated GPUs, for the second run of a check; the kit then leaves out the falling order.
 */
#ifndef GRADER_LABS_13_PIPELINE_PROTOCOL_H
#define GRADER_LABS_13_PIPELINE_PROTOCOL_H

#include "grader/probe_ranks.h"
#include "labs/13_pipeline/contract.h"

/** Micro-batches of a window at most. */
enum { MOST_IN_WINDOW = 40 };

/** Micro-batch k of window w is this one of those that are given. */
static inline int micro_batch(const Wire *in, int micros, int w, int k) {
    return (w * micros + k) % given_batches(in);
}

/** "ranks" of this lab. */
enum {
    PIPES_ORDER = RANKS_OWN, /**< a PipeOrder */
    PIPES_MICROS,            /**< micro-batches of a window */
    PIPES_SHORT,             /**< window + 1 that has fewer; 0 for none */
    PIPES_FEWER,             /**< by how many, where that leaves any */
    PIPES_WINDOWS,           /**< how many */
    PIPES_TIE,               /**< a PipesTie */
    PIPES_EVALUATE,          /**< all batches are evaluated, too, the first one last */
    PIPES_REPEATED,          /**< how often a window of one micro-batch comes after the others:
                                  nothing of it is handed back. With PIPES_EVALUATE, on the CPU, how
                                  often the first batch is evaluated once more */
};

/** Micro-batches of window w. */
static inline int window_micros(const int32_t *option, int w) {
    int micros = option[PIPES_MICROS], few = micros - option[PIPES_FEWER];
    return w + 1 == option[PIPES_SHORT] && few > 0 ? few : micros;
}

/** How far a window goes. */
typedef enum PipesTie {
    TIE_NOT,  /**< gradients come back as pipe_window() leaves them */
    TIE_SUM,  /**< after tie_sum() */
    TIE_NORM, /**< the norm as well */
} PipesTie;

/** With TIE_NORM each window has norm_times() norms: before each but the first its gradients are
    multiplied by NORM_SCALE. One norm alone may have its bits by luck. */
enum { NORM_TIMES = 40 };
#define NORM_SCALE 0.97f

/** A simulated GPU is slow: there the rest stays blank. */
static inline int norm_times(bool gpu) {
    return gpu ? 2 : NORM_TIMES;
}

/** Norms of the kit, in "plain norms" (windows, NORM_WAYS, NORM_TIMES). */
typedef enum NormWay {
    NORM_RIGHT,        /**< floats, added in the order of stages */
    NORM_FALLING,      /**< from the last stage to the first */
    NORM_IN_DOUBLE,    /**< added in double */
    NORM_TIED_ON_LAST, /**< in order, the tied gradient counted on the last stage */
    NORM_WAYS,
} NormWay;

/** Told by a rank before tie_sum() and after it: such a letter, plus the rank. */
enum { TOLD_TIE_BEGINS = 'A', TOLD_TIE_ENDS = 'a' };

/** Of a rank's gradients, by rank_name(): before tie_norm(), and after it. */
#define NAME_STAGE "stage gradients"
#define NAME_NORMED "normed gradients"

/** "plans" of the formulas: four numbers each. */
enum { PLAN_ORDER, PLAN_STAGES, PLAN_STAGE, PLAN_MICROS, PLAN_NUMBERS };

/** The largest plan that is asked for. */
enum { MOST_STAGES = 130, MOST_MICROS = 140 };

/** "orders": places for each plan; those that nobody writes are ORDERS_BLANK. */
enum { ORDER_PLACES = 2 * MOST_MICROS + 2 };
#define ORDERS_BLANK UINT64_MAX

/** Numbers of a part, in "parts". */
enum { PART_FIRST, PART_LAST, PART_EMBEDDING, PART_HEAD, PART_WHOLE, PART_NUMBERS };

#endif
