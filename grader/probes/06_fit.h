/**
 * @file 06_fit.h
 * @brief What the judge and the probe of lab 06 say to each other: plans as whole numbers.
 * @ingroup grader
 */
#ifndef GRADER_PROBES_06_FIT_H
#define GRADER_PROBES_06_FIT_H

#include "common/lab06.h"
#include "grader/probes/training.h"

/** A plan travels as that many whole numbers. */
enum { PLAN_NUMBERS = 6 };

/** Packs a plan. */
static inline void plan_numbers(const Plan *plan, int32_t n[PLAN_NUMBERS]) {
    n[0] = plan->micro_batch;
    n[1] = plan->window;
    n[2] = plan->checkpoint.segment;
    n[3] = plan->checkpoint.attention_only;
    n[4] = (int32_t)plan->precision;
    n[5] = (int32_t)plan->attention;
}

/** Unpacks one. */
static inline Plan plan_of(const int32_t n[PLAN_NUMBERS]) {
    return (Plan){.micro_batch = n[0],
                  .window = n[1],
                  .checkpoint = {n[2], n[3] != 0},
                  .precision = (Precision)n[4],
                  .attention = (Attention)n[5]};
}

/** What is asked about a model, "ask" as WIRE_I32. */
enum {
    ASK_T,       /**< tokens per sequence */
    ASK_BATCH,   /**< sequences per update */
    ASK_MOST,    /**< of plan_largest() */
    ASK_THREADS, /**< of the device: workspace depends on them */
    ASK_GPU,     /**< on the simulated GPU, whose workspace is another */
    ASKS,        /**< how many numbers */
};

#endif
