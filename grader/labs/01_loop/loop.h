/**
 * @file loop.h
 * @brief Judge of lab 01: what a check gives to the loop, and how what comes back is compared. A
 * step is a window of one batch (grader/windows.h).
 * @ingroup grader
 */
#ifndef GRADER_LABS_01_LOOP_LOOP_H
#define GRADER_LABS_01_LOOP_LOOP_H

#include "grader/labs/01_loop/protocol.h"
#include "grader/windows.h"

/** Mistakes with the rate, in whichever check they show. */
extern const char LOOP_RATE_NEXT[], LOOP_RATE_LARGEST[];

/** A ragged batch for a small model. */
Batch loop_batch(Check *check, const ModelConfig *config);

/** A small model and a batch for each of the steps; no clipping. */
Windows loop_new(Check *check, int steps, float dropout);

/** Runs the steps; all of them, unless a hole ends the first after `enough` of it. */
bool loop_run(Windows *loop, int wants, LoopEnough enough);

/** (TRACE_LENGTH) The calls of a step; a run that ended early has none. */
const uint64_t *loop_trace(const Windows *loop, int step);

/** Norm of a step's gradient before clipping, at the weights that the reference has. */
double loop_norm(Windows *loop, const Window *step);

/** That a step ticks the schedule once. */
void loop_expect_tick(const Windows *loop, const Window *step);

/** Compares the gradients that the optimizer saw in a step. */
void loop_expect_gradients(const Windows *loop, const Window *step);

/** That all steps leave the clipping norm and the schedule's settings as they are. */
void loop_expect_settings(const Windows *loop);

/** Compares weights and moments after a step, from the gradients that came back. */
void loop_expect_update(Windows *loop, const Window *step);

#endif
