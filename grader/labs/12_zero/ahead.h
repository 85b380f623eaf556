/**
 * @file ahead.h
 * @brief The judge's part of gathers that run beside a part of a pass: their order in the record.
 * @ingroup grader
 */
#ifndef GRADER_LABS_12_ZERO_AHEAD_H
#define GRADER_LABS_12_ZERO_AHEAD_H

#include "grader/labs/12_zero/run.h"

/**
 * Looks at each micro-batch of a run on the simulated GPU that recorded: each gather may run
 * beside the part before the one that it is for, comes after the part before that, and before its
 * own; the host waits for none.
 *
 * @param run with prefetch, started with RANKS_GPU and RANKS_RECORD, of one micro-batch in a step
 */
bool ahead_expect_order(ZeroRun *run);

/**
 * Looks at the end of the same run: when a rank was closed, the host had waited for each gather,
 * that of a unit which nobody needed among them.
 */
bool ahead_expect_closed(ZeroRun *run);

#endif
