/**
 * @file contract.h
 * @brief The holes of lab 06: make a training run fit into a budget.
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
 * Task 1. Bytes by kind at the peak of an update by this plan, to the byte.
 *
 * @param config the model; precision and attention are the plan's
 * @param T      tokens per sequence
 * @param plan   how the update is run
 * @param device where
 */
MemoryUse plan_bytes(const ModelConfig *config, int T, const Plan *plan, const Device *device);

/**
 * Task 2. Seconds of an update by this plan, as the rates of the machine let one expect: window
 * times a micro-batch, and the optimizer once. An op costs what bounds it, and `overhead`:
 *
 * - a matrix product of N rows: FLOPs / rate(N), on a line between two points of the table; outside
 *   of the table it is the rate of the nearest point;
 * - attention: FLOPs / attention;
 * - any other op: bytes / stream. An op on floats, as the optimizer's, streams as F32 does.
 *
 * FLOPs and bytes are those of kernels/cost.h. What backward runs again costs once more, a block as
 * a whole: the bill does not know which products a step may leave out, since nothing reads them.
 *
 * @param config the model; precision and attention are the plan's
 * @param T      tokens per sequence
 * @param plan   how the update is run
 * @param rates  of the machine
 */
double plan_cost(const ModelConfig *config, int T, const Plan *plan, const PlanRates *rates);

/**
 * Task 3. The bytes of an option at its peak, with a way for each block: see PlanOption.
 *
 * @param option what is settled
 * @param way    (option->blocks) PlanWay of each block
 */
size_t plan_peak(const PlanOption *option, const unsigned char *way);

/**
 * Task 4. Of all options, with any way for each block, a plan that fits into the budget and costs
 * at most 2 % more than the cheapest that fits. The cost is the option's seconds and those of its
 * blocks. Of plans that cost the same it is the one with the lowest peak.
 *
 * 24 blocks have 282 billion plans: there is no time to look at each. The grader allows 10 seconds
 * for some 20 budgets with 12 options each: that is time for a few million plans, or parts of
 * plans, for each option and budget.
 *
 * @param      options (count) in no order
 * @param      count   at least 1
 * @param      budget  bytes; a plan whose peak is exactly as high fits
 * @param      scratch memory of your own until you return, aligned for any type
 * @param      bytes   of it: PLAN_SCRATCH or more
 * @param[out] choice  the plan; left alone where nothing fits
 * @return 0; -1 where nothing fits
 */
int plan_choose(const PlanOption *options, int count, size_t budget, void *scratch, size_t bytes,
                PlanChoice *choice);

/** Bytes of scratch memory that plan_choose() gets. */
enum { PLAN_SCRATCH = 8 << 20 };

/**
 * Task 5. The most sequences that one forward and backward can take in a budget.
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
