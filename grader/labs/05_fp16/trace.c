#include "grader/labs/05_fp16/trace.h"

#include <stdio.h>
#include <string.h>

/* The mistakes of a window beside those of its scaler. */
typedef enum TraceSlip {
    TRACE_NONE,
    TRACE_STEPS,     /* steps where it is skipped */
    TRACE_T,         /* counts it for t */
    TRACE_TICKS,     /* counts it for the schedule */
    TRACE_TWICE,     /* tells the scaler twice */
    TRACE_ONLY_BAD,  /* tells the scaler of skipped steps alone */
    TRACE_ONLY_GOOD, /* tells the scaler of steps that are taken alone */
    TRACE_NOT_SAID,  /* does not report that it was skipped */
    TRACE_ALWAYS,    /* skips every step */
    TRACE_ZERO,      /* and one whose gradients are 0: of the micro-batch without any target */
    TRACE_LARGE,     /* and one whose gradients are large */
    TRACE_SLIPS
} TraceSlip;

/* "window 15: t": number i of the trace. */
static const char *job_label(size_t i, char *text) {
    static const char *const column[COLUMNS] = {
        "the scale", "good_steps", "skipped", "t", "ticks", "optimizer_step() calls"};
    snprintf(text, CHECK_LABEL, "window %zu: %s", i / COLUMNS + 1, column[i % COLUMNS]);
    return text;
}

static const char *const trace_slip_sentence[TRACE_SLIPS] = {
    [TRACE_STEPS] = "a skipped step still calls optimizer_step()",
    [TRACE_T] = "a skipped step counts for the optimizer's t",
    [TRACE_TICKS] = "a skipped step ticks the schedule: mixed_update() leaves that to its caller",
    [TRACE_TWICE] = "scaler_update() is called twice in each window",
    [TRACE_ONLY_BAD] = "scaler_update() is called only where a step is skipped: it counts the good "
                       "ones as well",
    [TRACE_ONLY_GOOD] = "scaler_update() is called only where a step is taken: after a skipped one "
                        "it lowers the scale",
    [TRACE_ALWAYS] = "every step is skipped, also where all gradients are finite: the search "
                     "begins with nothing found, and report->skipped is written either way",
    [TRACE_ZERO] = "a step is skipped whose gradients are all 0: they are finite",
    [TRACE_LARGE] =
        "a step is skipped whose gradients are finite, but larger than half holds: they "
        "are floats, and so is their norm",
    [TRACE_NOT_SAID] = "a step is skipped, but report->skipped is not set",
};

/* (6 * windows) what the trace is with these mistakes. A step with NaN leaves NaN in a weight, and
   every window after it is a bad one. */
static uint64_t *job_trace_with(const Job *job, ScalerSlip scaler, TraceSlip slip) {
    uint64_t *trace =
        (uint64_t *)check_doubles(job->windows.given.check, COLUMNS * (size_t)job->windows.stop);
    Automaton a = job->scaler;
    uint64_t t = 0, ticks = 0;
    bool bad = false;
    for (int w = 0; w < job->windows.stop; w++) {
        const MixedWindow *window = &job->window[w];
        bad = window_is_bad(window) || (bad && slip == TRACE_STEPS) || slip == TRACE_ALWAYS ||
              (slip == TRACE_ZERO && window->count == 1) ||
              (slip == TRACE_LARGE && window->bad == BAD_LARGE);
        int times = slip == TRACE_TWICE       ? 2
                    : slip == TRACE_ONLY_BAD  ? bad
                    : slip == TRACE_ONLY_GOOD ? !bad
                                              : 1;
        for (int i = 0; i < times; i++) {
            automaton_step(&a, bad, scaler);
        }
        t += !bad || slip == TRACE_STEPS || slip == TRACE_T;
        ticks += !bad || slip == TRACE_TICKS || slip == TRACE_NOT_SAID;
        const uint64_t row[] = {(uint64_t)a.scale,
                                (uint64_t)a.good_steps,
                                bad && slip != TRACE_NOT_SAID,
                                t,
                                ticks,
                                !bad || slip == TRACE_STEPS};
        memcpy(trace + COLUMNS * w, row, sizeof row);
    }
    return trace;
}

void job_expect_trace(const Job *job) {
    Check *check = job->windows.given.check;
    ExactSuspect suspects[SLIPS + TRACE_SLIPS];
    int count = 0;
    for (ScalerSlip slip = SLIP_NONE + 1; slip < SLIPS; slip++) {
        suspects[count++] =
            (ExactSuspect){scaler_slip_sentence[slip], job_trace_with(job, slip, TRACE_NONE)};
        if (slip == SLIP_NEVER && *(const uint64_t *)check_got(check, "moves", WIRE_U64) == 1) {
            suspects[count - 1].sentence =
                "the scaler stays as it was: scaler_update(&mixed->scaler, ...) comes once in each "
                "window, where `dynamic` is set";
        }
    }
    for (TraceSlip slip = TRACE_NONE + 1; slip < TRACE_SLIPS; slip++) {
        suspects[count++] =
            (ExactSuspect){trace_slip_sentence[slip], job_trace_with(job, SLIP_NONE, slip)};
    }
    check_equal_of(check, "trace", job_label, job_trace_with(job, SLIP_NONE, TRACE_NONE),
                   COLUMNS * (size_t)job->windows.stop, suspects, count);
}
