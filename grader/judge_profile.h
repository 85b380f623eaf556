/**
 * @file judge_profile.h
 * @brief Judges of labs with kernels: what the simulator has reported, and what it has counted.
 * @ingroup grader
 */
#ifndef GRADER_JUDGE_PROFILE_H
#define GRADER_JUDGE_PROFILE_H

#include "grader/check.h"
#include "grader/probe_profile.h"

/** Wants the tensors of hand_back_profile(). */
void profile_want(Check *check);

/* ---- reports --------------------------------------------------------------------------------- */

/** Whether the simulator has nothing to report. A report says why numbers are wrong. */
bool profile_expect_clean(Check *check);

/* ---- traffic --------------------------------------------------------------------------------- */

/** So many times the fewest sectors may be touched: rows need not begin where a sector does. */
#define PROFILE_MOST_SECTORS 1.15

/** Of the first warp of each kernel: lanes take neighbours. sectors[0] are read, [1] written. */
bool profile_expect_neighbours(Check *check, double sectors[2]);

#endif
