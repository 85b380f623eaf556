/**
 * @file leaves.h
 * @brief The judge's part of lab 11, task 3: windows of many parts, in which no model runs.
 * @ingroup grader
 */
#ifndef GRADER_LABS_11_DATA_PARALLEL_LEAVES_H
#define GRADER_LABS_11_DATA_PARALLEL_LEAVES_H

#include "grader/check.h"

/**
 * One or two windows of two micro-batches, of models with some dozens of blocks: a bucket of
 * everything, which is more than a MiB; and adapters alone, of some blocks and of one. What
 * ddp_leave() is given is what a backward would give it: so a model of that size costs no time.
 * Amid the micro-batches of one Ddp another has its own, as where two models learn in turn.
 *
 * Each window has the buckets of the contract, the host waits for nothing before ddp_close(), and
 * for all that is on its way there. Nothing is left of what was created. @return right
 */
bool leaves_judge(Check *check);

#endif
