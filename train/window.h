/**
 * @file window.h
 * @brief A plan of lab 06 at work: the window of one update, timed and counted.
 * @ingroup train
 */
#ifndef TRAIN_WINDOW_H
#define TRAIN_WINDOW_H

#include "common/plan.h"

/** The model and the tokens of an update. */
typedef struct Course {
    ModelConfig config; /**< its precision and attention are the plan's */
    int T;              /**< tokens per sequence */
    int batch;          /**< sequences per update */
    Device *device;     /**< where */
    int32_t *ids;       /**< (batch * T + 1) tokens */
} Course;

/** Random tokens for a course; to be given to course_free(). */
void course_fill(Course *course, uint64_t seed);

/** Frees the tokens. */
void course_free(Course *course);

/**
 * Runs windows by a plan, with the labs that it needs.
 *
 * @param      course  the model and the tokens
 * @param      plan    micro_batch * window is the course's batch
 * @param      repeat  windows after the first, which pays for what is done once
 * @param[out] ms      (repeat) milliseconds of each of them
 * @param[out] peak    bytes by kind
 */
void course_run(const Course *course, const Plan *plan, int repeat, double *ms, MemoryUse *peak);

/** A plan of the course, for course_each(). */
typedef void course_plan_fn(void *context, const Plan *plan);

/**
 * Calls `see` with every plan of the kit's own blocks: each micro-batch that divides the batch,
 * each precision and attention, each segment below L, without attention_only and, where it makes a
 * difference, with it.
 */
void course_each(int L, int batch, course_plan_fn *see, void *context);

#endif
