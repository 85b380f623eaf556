/**
 * @file plans.h
 * @brief The judge's part of lab 13, tasks 1, 2 and 6: orders of work, worked out and tried, and
 * what a stage takes.
 * @ingroup grader
 */
#ifndef GRADER_LABS_13_PIPELINE_PLANS_H
#define GRADER_LABS_13_PIPELINE_PLANS_H

#include "grader/judge_peak.h"
#include "grader/labs/13_pipeline/protocol.h"
#include "grader/labs/13_pipeline/term.h"
#include "grader/quiz.h"

/** Plans that are asked for: every stage of every pipeline of up to SMALL_STAGES, with every window
    of up to SMALL_MICROS, and some of each of LARGE_PIPES, just beyond a power of 2. */
enum {
    SMALL_STAGES = 9,
    SMALL_MICROS = 12,
    SMALL_PLANS = SMALL_STAGES * (SMALL_STAGES + 1) / 2 * SMALL_MICROS,
    LARGE_PIPES = 4,
    LARGE_STAGES = 5,
    LARGE_MICROS = 4,
    ALL_PLANS = SMALL_PLANS + LARGE_PIPES * LARGE_STAGES * LARGE_MICROS,
};

/** Fills in all plans of an order, those of a pipeline and window in a row. */
void plans_all(PipeOrder order, PipePlan plan[ALL_PLANS]);

/** Gives "plans". */
void plans_give(Check *check, const PipePlan *plan, int count);

/** Micro-batches in flight at most, by the contract. */
int plan_in_flight(const PipePlan *plan);

/** The work of a stage with that many forwards ahead: (2 micros), by the contract or with more or
    fewer. `falling` has backwards in falling order among those that are in flight. */
void plan_work(const PipePlan *plan, int ahead, bool falling, PipeWork *work);

/**
 * The time of a window in turns, where stage s takes forth[s] and back[s], messages take no time,
 * and each send waits for its receive, in one group with what comes in at that place.
 *
 * @return -1 where nobody can go on
 */
double plan_seconds(PipeOrder order, int stages, int micros, const double *forth,
                    const double *back);

/** The blocks of a stage, by the contract: the first, and the one after the last. */
void plan_blocks(int L, int stages, int stage, int blocks[2]);

/** The bytes of a stage by kind, from the kit's list of parameters and plain steps of the kit. */
MemoryUse plan_bytes(const ModelConfig *config, const PipePlan *plan, int B, int T);

/** The bytes that a stage sends in a window. */
uint64_t plan_wire(const ModelConfig *config, const PipePlan *plan, int B, int T);

/** Bytes of a message. */
size_t plan_message(const ModelConfig *config, int B, int T);

/** The first block of stage s of p, of L: s L / p as one term or another rounds it. */
typedef int PlanCut(int L, int p, int s);

/** Rounded down. */
PlanCut plan_cut_down;

/** Rounded up. */
PlanCut plan_cut_up;

/** Rounded to the nearest, halves up. */
PlanCut plan_cut_near;

#endif
