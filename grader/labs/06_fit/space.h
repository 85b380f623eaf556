/**
 * @file space.h
 * @brief The judge's part of lab 06: every plan of a small model, its bytes counted by running
 * it.
 * @ingroup grader
 */
#ifndef GRADER_LABS_06_FIT_SPACE_H
#define GRADER_LABS_06_FIT_SPACE_H

#include "common/trainer.h"
#include "grader/check.h"
#include "grader/judge_peak.h"
#include "grader/labs/06_fit/protocol.h"

enum { MOST_PLANS = 512, PLAN_TEXT = WIRE_NAME, THREADS = 3 };

/** A plan, what it costs, and what it takes. */
typedef struct Measured {
    Plan plan;
    double cost;
    MemoryUse use;
    size_t bytes;
} Measured;

/** All plans of a model on a machine. */
typedef struct Space {
    Check *check;
    ModelConfig config; /**< its precision and attention are those of no plan in particular */
    int T, batch;
    PlanRates rates;
    Device *device; /**< where bytes are counted */
    Device *gpu;    /**< where the plans are to run, NULL where that is the same: only the workspace
                       depends on it */
    Measured plan[MOST_PLANS];
    int count;
    const Measured *front[MOST_PLANS]; /**< bytes rise, cost falls: no other plan is ever chosen */
    int fronts;
} Space;

/**
 * "3 x 2 f16 plain segment 1": the window comes first. Numbers that are none of ours are cut off.
 */
const char *plan_text(const Plan *plan, char text[PLAN_TEXT]);

/** Gives the model and how it is to be trained. */
void space_give(const Space *space);

/* ---- a model, a machine ---------------------------------------------------------------------- */

/** Counted while a plain step of the kit runs, and what is run again taken off. */
MemoryUse space_counted(const Space *space, const Plan *plan);

/** The same of all kinds together. */
size_t space_counted_bytes(const Space *space, const Plan *plan);

/* ---- all plans ------------------------------------------------------------------------------- */

/** The entry of a plan, NULL if it is none. Several ways to say the same are one entry. */
const Measured *space_find(const Space *space, const Plan *plan);

/** A random model and machine, on which half is fast if it is a GPU; freed by space_free(). */
Space *space_without_plans(Check *check, bool gpu);

/** The same, and all its plans. */
Space *space_new(Check *check, bool gpu);

/** Frees what the check does not. */
void space_free(Space *space);

#endif
