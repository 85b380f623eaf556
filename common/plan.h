/**
 * @file plan.h
 * @brief A way to run an update, and what it costs on a machine whose rates are known.
 * @ingroup common
 */
#ifndef COMMON_PLAN_H
#define COMMON_PLAN_H

#include "common/model.h"

/** How an update is run. */
typedef struct Plan {
    int micro_batch;       /**< sequences per forward and backward */
    int window;            /**< micro-batches per update */
    Checkpoint checkpoint; /**< what backward runs again (lab 04) */
    Precision precision;   /**< storage of weights and activations (lab 05) */
    Attention attention;   /**< what attention keeps */
} Plan;

/** Most points of a rate table. */
enum { PLAN_POINTS = 16 };

/** How fast a machine is, as `train --profile` prints it (train/rates.h). */
typedef struct PlanRates {
    int count;                   /**< points of the table, at least 1 */
    int rows[PLAN_POINTS];       /**< (count) rows of a matrix product, rising */
    double rate[3][PLAN_POINTS]; /**< (count) FLOP per second with that many rows, by Precision */
    double overhead;             /**< seconds that each matrix product costs, however small */
} PlanRates;

/** The model that a plan runs: the shape as it is, precision and attention of the plan. */
static inline ModelConfig plan_config(const ModelConfig *config, const Plan *plan) {
    ModelConfig planned = *config;
    planned.precision = plan->precision;
    planned.attention = plan->attention;
    return planned;
}

/**
 * The cost of an update by a plan, in seconds: over all matrix products of its micro-batches, the
 * sum of FLOPs / rate(rows) + overhead. Predicted speed is what the rates say, and nothing else.
 * Rows are the tokens of a micro-batch; blocks that run again cost their products once more,
 * attention_only costs queries times keys once more.
 *
 * @param config the model; precision and attention are the plan's
 * @param T      tokens per sequence
 * @param plan   how the update is run
 * @param rates  of the machine; between two points of the table the rate lies on a line, outside of
 *               it is that of the nearest point
 */
double plan_cost(const ModelConfig *config, int T, const Plan *plan, const PlanRates *rates);

#endif
