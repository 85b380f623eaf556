/**
 * @file expect.h
 * @brief Lab 05 in the judge: what a window must have done, and the sentence where it has not.
 * @ingroup grader
 */
#ifndef GRADER_LABS_05_FP16_EXPECT_H
#define GRADER_LABS_05_FP16_EXPECT_H

#include "grader/labs/05_fp16/job.h"

/* ---- gradients ------------------------------------------------------------------------------- */

/** That backward of each of the first window's micro-batches was given share * scale. */
void job_expect_dloss(const Job *job, double scale);

/**
 * Compares the gradients that the optimizer saw: unscaled, then clipped to the limit; 0 for none.
 */
bool job_expect_gradients(const Job *job, int w, double scale, double limit);

/** At most three times as far from the reference as the kit's own half is. A norm that is off by no
   more than 0.01 has a cosine above 0.9999. */
void job_expect_small_error(const Job *job, int w, float scale);

/** Compares norm and rate in the reports of windows that have the same gradient, whatever their
    scales; loss and tokens stay. */
void job_expect_report(const Job *job);

/** Loss and tokens of each window's report are the same before mixed_update() and after it. */
void job_expect_kept(const Job *job);

/* ---- numbers that are not finite ------------------------------------------------------------- */

/** Which of weights, masters, m, v differ between two windows; NULL if none does. */
const char *job_changed(const Job *job, int a, int b);

/** Whether a gradient is not zero when a window has ended. */
bool job_gradients_left(const Job *job, int w);

/** That a window with a bad number was skipped; `before` is the good one before it. */
void job_expect_bad_skipped(const Job *job, int w, int before);

/** That a good window was a step; `before` is the good one before it, -1 if there is none. */
void job_expect_good_taken(const Job *job, int w, int before);

/* ---- a second trainer ------------------------------------------------------------------------ */

/** Runs a second trainer, whose model has adapters, and compares what it has done. */
void job_expect_apart(const Job *job);

/* ---- masters --------------------------------------------------------------------------------- */

/** Masters by AdamW in double, weights by rounding the masters that came back: exactly. */
void job_expect_updates(Job *job);

#endif
