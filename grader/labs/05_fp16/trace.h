/**
 * @file trace.h
 * @brief Lab 05 in the judge: what moves from window to window, and the mistakes in it.
 * @ingroup grader
 */
#ifndef GRADER_LABS_05_FP16_TRACE_H
#define GRADER_LABS_05_FP16_TRACE_H

#include "grader/labs/05_fp16/job.h"

/** Compares the trace of all windows, whose scales are the scaler's own. The probe has been asked
    for "moves". */
void job_expect_trace(const Job *job);

#endif
