/**
 * @file costs.h
 * @brief The judge's part of lab 06: what a plan costs, rightly, by mistake, and as measured.
 * @ingroup grader
 */
#ifndef GRADER_LABS_06_FIT_COSTS_H
#define GRADER_LABS_06_FIT_COSTS_H

#include "common/plan.h"
#include "grader/check.h"

/** Known mistakes in plan_cost(). */
typedef enum CostFlaw {
    FLAW_NONE,
    FLAW_NEAREST_RATE,
    FLAW_BEYOND_THE_TABLE,
    FLAW_NO_OVERHEAD,
    FLAW_ATTENTION_AS_PRODUCT,
    FLAW_NO_STREAM,
    FLAW_FLOATS_IN_HALF,
    FLAW_RATES_OF_FLOAT,
    FLAW_NO_BACKWARD,
    FLAW_NO_HEAD,
    FLAW_NO_UPDATE,
    FLAW_UPDATE_EACH_TIME,
    FLAW_UPDATE_AS_FLOAT,
    FLAW_BF16_AS_FLOAT,
    FLAW_NO_WINDOW,
    FLAW_WHOLE_BATCH,
    FLAW_ALWAYS_PLAIN,
    FLAW_ALWAYS_FLASH,
    FLAW_AGAIN_FREE,
    FLAW_AGAIN_ALL,
    FLAW_AGAIN_BUT_ONE,
    FLAW_ATTENTION_ONLY_FREE,
    FLAW_ATTENTION_ONLY_FLASH,
    COST_FLAWS,
} CostFlaw;

/** The sentence for each. */
extern const char *const cost_flaws[COST_FLAWS];

/** Seconds of an update, as labs/06_fit/contract.h says; or what a mistake makes of it. */
double cost_expected(const ModelConfig *config, int T, const Plan *plan, const PlanRates *rates,
                     CostFlaw flaw);

/** Most kinds of ops in an update; in floats there are two fewer. */
enum { COST_OPS = 28 };

/** The same where all ops of one kind are forgotten. */
double cost_without(const ModelConfig *config, int T, const Plan *plan, const PlanRates *rates,
                    int op);

/* ---- machines that were measured ------------------------------------------------------------- */

enum { MEASURED_PLANS = 8 };

/** A model on a machine: its rates, and the seconds of each plan of measured_plans. */
typedef struct MeasuredCourse {
    PlanRates rates;
    const char *machine;
    ModelConfig config; /**< T tokens for each of 8 sequences */
    double seconds[MEASURED_PLANS];
} MeasuredCourse;

extern const Plan measured_plans[MEASURED_PLANS];
extern const MeasuredCourse measured_courses[];
extern const int measured_count;

#endif
