/**
 * @file lab06.h
 * @brief The hole of lab 06: make a training run fit into a budget.
 * @ingroup labs
 */
#ifndef COMMON_LAB06_H
#define COMMON_LAB06_H

#include "common/memory.h"
#include "common/model.h"

/** How a step is run. */
typedef struct Plan {
    int micro_batch;       /**< sequences per forward and backward */
    int window;            /**< micro-batches per update */
    Checkpoint checkpoint; /**< what backward runs again */
    Precision precision;   /**< storage of weights and activations */
    Attention attention;   /**< what attention keeps */
} Plan;

/** How fast a machine is, as train --profile prints it. */
typedef struct PlanRates {
    int count;          /**< points of the table */
    int rows[16];       /**< (count) rows of a matrix product, rising */
    double rate[3][16]; /**< (count) FLOP per second with that many rows, by Precision */
    double overhead;    /**< seconds that each matrix product costs, however small */
} PlanRates;

/**
 * What an update costs by a plan, in seconds: the sum over all matrix products of its micro-batches
 * of FLOPs / rate(rows) + overhead. Given, no hole: predicted speed is what the rates say, and
 * nothing else.
 *
 * @param config the model; precision and attention are the plan's
 * @param T      tokens per sequence
 * @param plan   how the step is run
 * @param rates  of the machine; between two points of the table the rate lies on a line
 */
double plan_cost(const ModelConfig *config, int T, const Plan *plan, const PlanRates *rates);

/**
 * Task 1. Bytes by kind at the peak of a step of this plan.
 *
 * @param config the model; precision and attention are the plan's
 * @param T      tokens per sequence
 * @param plan   how the step is run
 * @param device where
 */
MemoryUse plan_bytes(const ModelConfig *config, int T, const Plan *plan, const Device *device);

/**
 * Task 2. Chooses the plan with the least cost that fits.
 *
 * @param      config  the model; precision and attention are the plan's to choose
 * @param      batch   sequences per update: micro_batch * window
 * @param      T       tokens per sequence
 * @param      budget  bytes
 * @param      device  where it will run
 * @param      rates   of the machine
 * @param[out] plan    the choice
 * @return 0; -1 where nothing fits
 */
int plan_choose(const ModelConfig *config, int batch, int T, size_t budget, const Device *device,
                const PlanRates *rates, Plan *plan);

#endif
