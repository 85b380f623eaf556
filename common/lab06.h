/**
 * @file lab06.h
 * @brief The hole of lab 06: make a training run fit into a budget.
 * @ingroup labs
 *
 * An update on `batch` sequences can be run in many ways: in how many micro-batches, with which
 * blocks run again in backward, with which numbers stored. All of them learn the same; they differ
 * in bytes and in time. A plan is one of these ways.
 */
#ifndef COMMON_LAB06_H
#define COMMON_LAB06_H

#include "common/memory.h"
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

/** How fast a machine is, as `train --profile` prints it (common/rates.h). */
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
 * What an update costs by a plan, in seconds: over all matrix products of its micro-batches, the
 * sum of FLOPs / rate(rows) + overhead. Given, no hole: predicted speed is what the rates say, and
 * nothing else. Rows are the tokens of a micro-batch; blocks that run again cost their products
 * once more, attention_only costs queries times keys once more.
 *
 * @param config the model; precision and attention are the plan's
 * @param T      tokens per sequence
 * @param plan   how the update is run
 * @param rates  of the machine; between two points of the table the rate lies on a line, outside of
 *               it is that of the nearest point
 */
double plan_cost(const ModelConfig *config, int T, const Plan *plan, const PlanRates *rates);

/**
 * Task 1. Bytes by kind at the peak of an update by this plan.
 *
 * @param config the model; precision and attention are the plan's
 * @param T      tokens per sequence
 * @param plan   how the update is run
 * @param device where
 */
MemoryUse plan_bytes(const ModelConfig *config, int T, const Plan *plan, const Device *device);

/**
 * Task 2. The plan with the least cost of all that fit into the budget; of equals the one with
 * fewer bytes.
 *
 * All of these are plans: each micro_batch that divides `batch`, each segment from 0 to L, with
 * attention_only and without, all three precisions, both kinds of attention.
 *
 * @param      config  the model; precision and attention are the plan's to choose
 * @param      batch   sequences per update: micro_batch * window
 * @param      T       tokens per sequence
 * @param      budget  bytes, all kinds together; a plan that takes exactly as many fits
 * @param      device  where it will run
 * @param      rates   of the machine
 * @param[out] plan    the choice; left alone where nothing fits
 * @return 0; -1 where nothing fits
 */
int plan_choose(const ModelConfig *config, int batch, int T, size_t budget, const Device *device,
                const PlanRates *rates, Plan *plan);

/**
 * Task 3. The most sequences that one forward and backward can take in a budget.
 *
 * @param config the model; precision and attention are the plan's
 * @param T      tokens per sequence
 * @param budget bytes, all kinds together
 * @param device where it will run
 * @param plan   what is run again, precision, attention; its micro_batch and window mean nothing
 * @param most   the answer is at most this, at least 1; most * T is at most 2^30
 * @return sequences; 0 where not even one fits
 */
int plan_largest(const ModelConfig *config, int T, size_t budget, const Device *device,
                 const Plan *plan, int most);

#endif
