/**
 * @file contract.h
 * @brief The hole of lab 06: make a training run fit into a budget.
 * @ingroup labs
 *
 * An update on `batch` sequences can be run in many ways: in how many micro-batches, with which
 * blocks run again in backward, with which numbers stored. All of them learn the same; they differ
 * in bytes and in time. A plan is one of these ways.
 */
#ifndef LABS_06_FIT_CONTRACT_H
#define LABS_06_FIT_CONTRACT_H

#include "common/memory.h"
#include "common/plan.h"

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
