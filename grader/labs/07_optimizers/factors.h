/**
 * @file factors.h
 * @brief Judge of lab 07: steps of Adafactor, as they should be and as known mistakes make them.
 * @ingroup grader
 */
#ifndef GRADER_LABS_07_OPTIMIZERS_FACTORS_H
#define GRADER_LABS_07_OPTIMIZERS_FACTORS_H

#include "grader/check.h"
#include "grader/labs/07_optimizers/protocol.h"

enum { FACTOR_TENSORS = 72, FACTOR_STEPS = 4 };

/** Weights and factors of all tensors, end to end. */
typedef struct FactorState {
    const float *weight, *row, *col;
} FactorState;

/** A run of the op. */
typedef struct Factors {
    Check *check;
    int tensors, steps, t; /**< t of the first step */
    int32_t rows[FACTOR_TENSORS], cols[FACTOR_TENSORS], flags[FACTOR_TENSORS];
    size_t all, all_rows, all_cols;
    Adafactor numbers;
    float rate[FACTOR_STEPS]; /**< learning rate of each step */
    FactorState start;
    float *grad; /**< (steps, all) */
} Factors;

/** Whether tensor k is a matrix, with R and C. */
static inline bool factors_is_matrix(const Factors *factors, int k) {
    return (factors->flags[k] & FLAG_MATRIX) != 0;
}

/** Numbers of tensor k. */
static inline size_t factors_size(const Factors *factors, int k) {
    return (size_t)factors->rows[k] * (size_t)factors->cols[k];
}

/** Numbers of its R: rows of a matrix, or none. */
static inline size_t factors_rows(const Factors *factors, int k) {
    return factors_is_matrix(factors, k) ? (size_t)factors->rows[k] : 0;
}

/** Sizes of a draw. */
typedef enum FactorDraw {
    FACTORS_MANY,  /**< many shapes; gradients that grow, so that updates are clipped, and shrink */
    FACTORS_TINY,  /**< the same with gradients whose squares are near epsilon, and zeros; and as
                        many tensors as a model of some blocks has */
    FACTORS_TWICE, /**< the first tensor is also the last; two are very long; in the last step two
                        have a NaN, two a number whose square is infinite */
    FACTORS_LARGE, /**< one matrix, late in training */
} FactorDraw;

/** Draws a run of some steps, from the first one but for FACTORS_LARGE. */
Factors *factors_new(Check *check, FactorDraw draw, int steps);

/** Gives all; wants all states. `until`: see HEAD_UNTIL; `resume`: HEAD_RESUME. */
void factors_plan(Factors *factors, int until, int resume);

/** Compares R and C of all steps, and with `weights` these too, with all known mistakes. */
bool factors_judge(Factors *factors, bool weights);

/** Whether R and C of all steps of a Factors are right; a ProfileRight. */
bool factors_means_are_right(const void *factors);

/** Whether the first step's gradients are as they were. */
bool factors_judge_gradient(Factors *factors);

/** Whether the first tensor and the last have the same bits. */
bool factors_judge_twice(Factors *factors);

/** Whether the last step after a resumption has the bits that it had before. */
bool factors_judge_again(Factors *factors);

/** The fewest bytes that all steps can move; without weights, those of R and C alone. */
double factors_bytes(const Factors *factors, bool weights);

/** Bytes of all that comes back. */
size_t factors_fetched(const Factors *factors, bool again);

#endif
