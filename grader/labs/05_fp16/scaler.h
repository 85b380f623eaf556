/**
 * @file scaler.h
 * @brief Lab 05 in the judge: a loss scaler of its own, right and with known mistakes.
 * @ingroup grader
 */
#ifndef GRADER_LABS_05_FP16_SCALER_H
#define GRADER_LABS_05_FP16_SCALER_H

#include "grader/check.h"

enum { MOST_STEPS = 64 };

/** A scaler of one's own. */
typedef struct Automaton {
    double scale, growth, backoff, floor;
    int interval, good_steps;
} Automaton;

/** The mistakes that it may have. */
typedef enum ScalerSlip {
    SLIP_NONE,
    SLIP_KEPT,    /**< a bad step leaves the count of good ones */
    SLIP_LATE,    /**< grows one step late */
    SLIP_EARLY,   /**< and one early */
    SLIP_SWAPPED, /**< grows on a bad step, falls after good ones */
    SLIP_TURNED,  /**< takes a good step for a bad one */
    SLIP_FLOOR,   /**< no floor */
    SLIP_GROWN,   /**< good steps go on counting after it has grown: it grows each time */
    SLIP_ONCE,    /**< the same, and it never grows again */
    SLIP_TIMES,   /**< the same, and it grows at each multiple of the interval */
    SLIP_NEVER,   /**< never changes */
    SLIP_EACH,    /**< grows with every good step */
    SLIP_INF,     /**< grows to infinity */
    SLIP_ONE,     /**< the floor is 1 */
    SLIP_TWO,     /**< growth is 2, backoff a half */
    SLIP_DOUBLE,  /**< growth is 2 */
    SLIP_HALF,    /**< backoff is a half */
    SLIP_DIVIDES, /**< a bad step divides by growth */
    SLIP_STAYS,   /**< what would fall below the floor stays */
    SLIPS
} ScalerSlip;

/** The sentence about each. */
extern const char *const scaler_slip_sentence[SLIPS];

/** Its state after a good or bad step. */
void automaton_step(Automaton *a, bool bad, ScalerSlip slip);

/** Compares what a new scaler begins with; the interval of another term is named. */
void scaler_judge_start(Check *check);

/** Runs a script, a letter for each step, b for a bad one, and compares both traces exactly. */
void scaler_judge_script(Check *check, Automaton start, const char *script);

#endif
