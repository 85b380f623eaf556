/**
 * @file factor_step.h
 * @brief A step of Adafactor in double: as it should be, or with a known mistake.
 * @ingroup grader
 */
#ifndef GRADER_LABS_07_OPTIMIZERS_FACTOR_STEP_H
#define GRADER_LABS_07_OPTIMIZERS_FACTOR_STEP_H

#include "grader/labs/07_optimizers/factors.h"

/** Known mistakes. */
typedef enum FactorMistake {
    NO_MISTAKE, /**< none */
    SUMS,
    BETA_CONSTANT,
    BETA_LATE,
    BETA_NEXT,
    NOT_SQUARED,
    NO_EPSILON,
    EPSILON_OUTSIDE,
    NOT_DECAYED,
    PARTS_EXCHANGED,
    NO_MEAN,
    SUM_OF_R,
    PRODUCT,
    NO_CLIP,
    CLIP_INVERTED,
    CLIP_ALWAYS,
    CLIP_OUTSIDE,
    CLIP_TIMES,
    NO_RMS_ROOT,
    CLIP_ALL,
    RATE_LEAKS,
    OLD_FACTORS,
    DECAY_NEW,
    DECAY_EVERY,
    DECAY_OTHERS,
    DECAY_PUSHES_AWAY,
    DECAY_CLIPPED,
    NO_DECAY,
    NAN_HIDDEN,
    NOT_FINITE_HIDDEN,
    INF_HIDDEN,
    FACTOR_MISTAKES,
} FactorMistake;

/** The sentence about each, for the student. */
extern const char *const factor_sentence[FACTOR_MISTAKES];

/** Weights, R and C after a step, end to end; the caller's. */
typedef struct FactorStep {
    double *weight; /**< (all) */
    double *row;    /**< (all_rows) R */
    double *col;    /**< (all_cols) C */
} FactorStep;

/**
 * One step.
 *
 * @param      factors the run
 * @param      from    states before it
 * @param      step    which, from 0 on
 * @param      mistake that is made, or NO_MISTAKE
 * @param[out] to      the states after it
 */
void factor_step_as(const Factors *factors, const FactorState *from, int step,
                    FactorMistake mistake, FactorStep *to);

#endif
