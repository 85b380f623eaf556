/**
 * @file ops.h
 * @brief Lab 05 in the judge: calls of cast_from_float() and unscale() on the simulated GPU.
 * @ingroup grader
 */
#ifndef GRADER_LABS_05_FP16_OPS_H
#define GRADER_LABS_05_FP16_OPS_H

#include "grader/judge_profile.h"
#include "grader/labs/05_fp16/protocol.h"
#include "kernels/half.h"

enum { MOST_CASES = 40, OP_SECONDS = 20 };

/** All calls of a check. */
typedef struct OpCalls {
    Check *check;
    OpCase c[MOST_CASES];
    const float *in[MOST_CASES];
    int count;
    bool cast;
    bool again; /**< in another order of threads; in the first it was right */
} OpCalls;

/** Adds a call on (c.n) numbers, which are borrowed. */
void ops_add(OpCalls *ops, const float *in, OpCase c);

/** Gives the calls, once all are there; ops_run() may follow more than once. */
void ops_planned(OpCalls *ops);

/** Runs all calls. What the simulator has reported is a mistake by itself. */
bool ops_run(const OpCalls *ops);

/** Whether kernels have moved all the numbers, shared out as that says; else the check fails. */
bool ops_judge_shared(const OpCalls *ops, ProfileShares shares);

/** How the numbers of all calls must be shared out: where one call has many, among blocks too. */
ProfileShares ops_shares(const OpCalls *ops);

/** Whether a launch of hundreds of millions of numbers is possible, and is asked about. Last in a
    check. */
void ops_judge_launches(const OpCalls *ops);

/** Compares the bits of all casts. */
void ops_judge_cast(const OpCalls *ops);

/** Whether no more than `read` bytes are read for `written` bytes written; else the check fails. */
bool ops_judge_traffic(const OpCalls *ops, double read, double written);

/** in * inv_scale, and found_inf, of each call. */
void ops_judge_unscale(const OpCalls *ops);

#endif
