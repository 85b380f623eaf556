/**
 * @file protocol.h
 * @brief What the judge and the probe of lab 06 say to each other: plans as whole numbers.
 * @ingroup grader
 */
#ifndef GRADER_LABS_06_FIT_PROTOCOL_H
#define GRADER_LABS_06_FIT_PROTOCOL_H

#include "grader/probe_training.h"
#include "labs/06_fit/contract.h"

/** A plan travels as that many whole numbers. */
enum { PLAN_NUMBERS = 6 };

/** Packs a plan. */
void plan_numbers(const Plan *plan, int32_t n[PLAN_NUMBERS]);

/** Unpacks one. */
Plan plan_of(const int32_t n[PLAN_NUMBERS]);

/** The questions about a model, "ask" as WIRE_I32. */
enum {
    ASK_T,       /**< tokens per sequence */
    ASK_THREADS, /**< of the device: workspace depends on them */
    ASK_GPU,     /**< on the simulated GPU, whose workspace is another */
    ASKS,        /**< how many numbers */
};

/** A question to plan_cost(): "costs" as WIRE_BYTES. */
typedef struct CostAsk {
    ModelConfig config;
    int T;
    Plan plan;
    PlanRates rates;
} CostAsk;

/** A choice travels as its option and the ways of PLAN_BLOCKS blocks; before, they are these. */
enum { CHOICE_NUMBERS = 1 + PLAN_BLOCKS, CHOICE_UNTOUCHED = -7, WAY_UNTOUCHED = 77 };

/** Ends the names of a second stack in the same run. */
#define CHOICE_SECOND ", second"

#endif
