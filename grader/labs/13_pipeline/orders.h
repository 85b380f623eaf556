/**
 * @file orders.h
 * @brief The judge's part of lab 13, tasks 2 and 6: orders of work, what is in flight, the bubble.
 * @ingroup grader
 *
 * Each asks for all plans: see plans_all().
 */
#ifndef GRADER_LABS_13_PIPELINE_ORDERS_H
#define GRADER_LABS_13_PIPELINE_ORDERS_H

#include "grader/labs/13_pipeline/plans.h"

/** The work of each stage in this order. */
void orders_judge(Check *check, PipeOrder order);

/** The micro-batches in flight, in both orders. */
void orders_judge_in_flight(Check *check);

/** The part of the time in which a stage waits. */
void orders_judge_bubble(Check *check);

#endif
