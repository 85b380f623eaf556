/**
 * @file job.h
 * @brief Lab 05 in the judge: windows in half precision, what is given, what is right, what is
 * said.
 * @ingroup grader
 */
#ifndef GRADER_LABS_05_FP16_JOB_H
#define GRADER_LABS_05_FP16_JOB_H

#include "grader/judge_peak.h"
#include "grader/labs/05_fp16/protocol.h"
#include "grader/labs/05_fp16/scaler.h"
#include "grader/windows.h"

enum { MIXED_WINDOWS = 128 };

/** One column of the trace. */
typedef enum Column { SCALE, GOOD_STEPS, SKIPPED, T_STEPS, TICKS, STEPPED, COLUMNS } Column;

/** The inputs of a check, and the state of its run. The reference stays at the weights that are
 * given.
 */
typedef struct Job {
    Windows windows; /**< `stop` of them, each of the three batches */
    MixedWindow window[MIXED_WINDOWS];
    Automaton scaler;
    double *gradient; /**< (P) of the mean over a window's valid targets */
    double norm;      /**< its norm */
} Job;

/** A small model in f16. */
Job job_new(Check *check, int L, int C);

/** Adds a window, at that scale or, where it is 0, at the one that the scaler has. @return it, to
   be changed */
MixedWindow *job_add_window(Job *job, float scale);

/** Frees what the check does not. */
void job_free(Job *job);

/** (P) the masters that are given: each rounds to its weight, and none is it, so that a cast in the
    wrong direction is seen. */
float *job_masters(const Job *job);

/** Gives everything to the probe; job_run_windows() may follow. */
void job_give(Job *job, int wants);

/** Whether the probe has run all windows. */
bool job_run_windows(const Job *job);

/** Both of these. */
bool job_run(Job *job, int wants);

/* ---- what is right --------------------------------------------------------------------------- */

/** The weight of each valid target of a window. */
double job_share(const Job *job);

/** Gradient of a window of the three micro-batches, and its norm, at the weights that are given.
    Draws these anew where the norm, or what a scale that has grown makes of it, is near 1: a limit
    of 1 would not show; and where the kit's own half is further from it than half of the tolerance:
    what is right would lose by the seed. */
void job_work_out(Job *job);

/** (P) the same window's gradient by the kit's own model in half, without anything of lab 05. */
float *job_kit_gradient(const Job *job, float scale);

/** (P) of the first window, at its scale and on the device that it runs on; NULL if the probe did
   not finish. On the GPU the probe has to run it: kernels of labs are in no judge. */
double *job_kit_bits(const Job *job);

/** (P) factor * gradient */
double *job_scaled(const Job *job, double factor);

/** Whether the optimizer stepped in a window. */
bool job_stepped(const Job *job, int w);

/** A number of the trace. */
uint64_t job_traced(const Job *job, int w, Column column);

#endif
