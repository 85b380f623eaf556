/**
 * @file trace.h
 * @brief Judge of lab 01: what the calls of a step, as its trace lists them, say of its mistakes.
 * @ingroup grader
 */
#ifndef GRADER_LABS_01_LOOP_TRACE_H
#define GRADER_LABS_01_LOOP_TRACE_H

#include "grader/probe_watch.h"

/** The mistake in the order of (TRACE_LENGTH) calls, or NULL. Gradients that are `clipped` when the
    optimizer steps, or `cleared` when the step ends, may have become so by other calls. */
const char *loop_wrong_order(const uint64_t *trace, bool clipped, bool cleared);

/** How often a step updates. */
int loop_updates(const uint64_t *trace);

/** Why there are no gradients when the optimizer steps; NULL where the trace does not say it. */
const char *loop_no_gradients(const uint64_t *trace, float max_grad_norm);

/** Of these reasons, the one by which the loss is 0 too. */
extern const char LOOP_NO_WEIGHT[];

/** Whether a norm was taken before backward and none after it: a clip begins with one. */
bool loop_norm_too_early(const uint64_t *trace);

#endif
