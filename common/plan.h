/**
 * @file plan.h
 * @brief A way to run an update, the rates of a machine, and blocks with a choice for each.
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
    double attention[3]; /**< FLOP per second of attention's products, by Precision; the masked half
                            of each square does not count as work */
    double stream[3];    /**< bytes per second of ops that memory limits, by Precision */
    double overhead;     /**< seconds that each op costs, however small */
} PlanRates;

/** The model that a plan runs: the shape as it is, precision and attention of the plan. */
static inline ModelConfig plan_config(const ModelConfig *config, const Plan *plan) {
    ModelConfig planned = *config;
    planned.precision = plan->precision;
    planned.attention = plan->attention;
    return planned;
}

/* ---- blocks that differ ---------------------------------------------------------------------- */

/** Most blocks of a model with a choice for each. */
enum { PLAN_BLOCKS = 24 };

/** The ways to run one block. */
typedef enum PlanWay {
    WAY_KEEP,      /**< all that its backward needs is kept */
    WAY_ATTENTION, /**< the same without the probabilities of attention, which are made again */
    WAY_AGAIN,     /**< only its input is kept, and its forward runs again */
    PLAN_WAYS,     /**< how many ways there are */
} PlanWay;

/** One block, by PlanWay. */
typedef struct PlanBlock {
    size_t kept[PLAN_WAYS];    /**< bytes from its forward until its backward is done */
    size_t working[PLAN_WAYS]; /**< bytes while its backward runs; what it kept is among them */
    double seconds[PLAN_WAYS]; /**< of an update; a whole multiple of 2^-30, so that sums are exact
                                    and equal costs are equal */
} PlanBlock;

/**
 * A plan of which everything is settled but what is done with each block.
 *
 * Forward runs block 0 first, backward runs it last. So while block i runs backward, there are
 * `bytes`, what the blocks before i have kept, and working[] of block i. While the head runs, there
 * are `bytes`, what all blocks have kept, and `head`. The peak is the most of these L + 1 sums.
 */
typedef struct PlanOption {
    Plan plan;              /**< micro-batch, window, precision, attention */
    size_t bytes;           /**< that are there all the time */
    size_t head;            /**< while the head runs */
    double seconds;         /**< of an update, without its blocks; a whole multiple of 2^-30 */
    int blocks;             /**< L, at most PLAN_BLOCKS; 0 where nothing is left to choose */
    const PlanBlock *block; /**< (blocks) */
} PlanOption;

/** One option, and a way for each of its blocks. */
typedef struct PlanChoice {
    int option;                     /**< index */
    unsigned char way[PLAN_BLOCKS]; /**< (blocks) PlanWay of each */
} PlanChoice;

#endif
