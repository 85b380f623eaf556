/**
 * @file eight_step.h
 * @brief A step with moments of one byte in double: as it should be, or with a known mistake.
 * @ingroup grader
 */
#ifndef GRADER_LABS_07_OPTIMIZERS_EIGHT_STEP_H
#define GRADER_LABS_07_OPTIMIZERS_EIGHT_STEP_H

#include "grader/labs/07_optimizers/eight.h"

/** Known mistakes. */
typedef enum EightMistake {
    RIGHT, /**< none */
    TENSOR_SCALE,
    SIGNED_V,
    OLD_SCALE,
    REQUANTISED,
    ROUNDED_DOWN,
    SIGN_LOST,
    SIGNED_MAXIMUM,
    NOT_SCALED,
    HIDDEN,
    NO_TAIL,
    DECAY_AFTER,
    DECAY_UNRATED,
    DECAY_PUSHES,
    DECAYS_ALL,
    DECAYS_NONE,
    DECAYS_OTHERS,
    UNCORRECTED,
    V_UNCORRECTED,
    CORRECTED_OUTSIDE,
    CORRECTED_TIMES,
    STEP_BEFORE,
    STEP_AFTER,
    WHOLE_GRADIENT,
    WHOLE_SQUARE,
    BETAS_SWAPPED,
    NO_ROOT,
    EPSILON_AFTER,
    ASCENDS,
    NO_FLOATS,
    OLD_MOMENTS,
    ZERO_BY_ZERO,
    ZERO_BELOW,
    DECAY_COUPLED,
    EPSILON_INSIDE,
    ONE_BETA,
    TIE_ABOVE,
    MISTAKES,
} EightMistake;

/** The sentence about each, for the student. */
extern const char *const eight_sentence[MISTAKES];

/** Of a float's roundings, relatively. */
#define EIGHT_EPSILON 0x1p-23

/** A moment after a step, its scales, and between which codes its own may be. */
typedef struct EightMoments {
    double *x;      /**< (all) the moments */
    double *error;  /**< (all) how far roundings may move them */
    double *absmax; /**< (blocks) the scales */
    double *slack;  /**< (blocks) how far roundings may move these */
    uint8_t *low;   /**< (all) the least code */
    uint8_t *high;  /**< (all) the largest */
    bool *hidden;   /**< (blocks) the scale is not finite: codes say nothing */
} EightMoments;

/** Weights and moments after a step. */
typedef struct EightStep {
    double *weight;
    const float *before; /* weights before the step */
    EightMoments m, v;
} EightStep;

/** Room for a step; freed with the check. */
EightStep eight_step_new(const Eight *eight);

/**
 * One step.
 *
 * @param      eight   the run
 * @param      from    states before it
 * @param      k       which step, from 0 on
 * @param      mistake that is made, or RIGHT
 * @param[out] step    of eight_step_new()
 */
void eight_step_as(const Eight *eight, const EightState *from, int k, EightMistake mistake,
                   EightStep *step);

#endif
