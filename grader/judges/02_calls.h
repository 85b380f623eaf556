/**
 * @file 02_calls.h
 * @brief Judge of lab 02: many calls of one op in one run of the probe, and how they are graded.
 * @ingroup grader
 *
 *     Calls *calls = calls_new(check, "sumsq");
 *     add_sumsq(calls, 257, 1, false); // 02_update.h, 02_rows.h: inputs, and what should come back
 *     grade_numbers(calls);            // or grade_clean, grade_schedules, grade_traffic
 */
#ifndef GRADER_JUDGES_02_CALLS_H
#define GRADER_JUDGES_02_CALLS_H

#include <string.h>

#include "grader/judges/profile.h"
#include "grader/probes/02_kernels.h"

enum { CALLS = 32, EXPECTED = 120, SUSPECTS = 9, SECONDS = 20 };

/* A tensor that should come back. */
typedef struct Expected {
    char name[WIRE_NAME];
    Precision precision; /* of the call */
    const double *want;  /* (n) */
    size_t n;
    size_t parts; /* what comes back are so many partial sums of it; 0: the tensor itself */
    Tolerance tolerance;
    Suspect suspect[SUSPECTS];
    int suspects;
} Expected;

/* All calls of a check. */
typedef struct Calls {
    Check *check;
    const char *op; /* case of the probe */
    KernelCase c[CALLS];
    int count;
    Expected expected[EXPECTED];
    int expecteds;
    bool large; /* numbers so large that nearly right says nothing */
} Calls;

static inline Calls *calls_new(Check *check, const char *op) {
    static Calls calls;
    memset(&calls, 0, sizeof calls);
    calls.check = check;
    calls.op = op;
    return &calls;
}

static inline int call_add(Calls *calls, Precision precision, int N, int C) {
    CHECK(calls->count < CALLS, "more than %d calls", CALLS);
    calls->c[calls->count] = (KernelCase){.precision = (int32_t)precision, .N = N, .C = C};
    return calls->count++;
}

/* ---- inputs and what should come back -------------------------------------------------------- */

static inline double *doubles(Calls *calls, const float *from, size_t n) {
    double *values = check_doubles(calls->check, n);
    for (size_t i = 0; i < n; i++) {
        values[i] = (double)from[i];
    }
    return values;
}

static inline void give(Calls *calls, int i, const char *tensor, const float *values, size_t n) {
    char name[WIRE_NAME];
    check_give(calls->check, kernel_tensor(name, tensor, i, &calls->c[i]), WIRE_F32, values, n);
}

/* Gives random numbers, and returns them as doubles. */
static inline double *give_normal(Calls *calls, int i, const char *tensor, size_t n, double scale,
                                  Precision precision) {
    float *values = check_normal(calls->check, n, scale, precision);
    give(calls, i, tensor, values, n);
    return doubles(calls, values, n);
}

static inline void give_doubles(Calls *calls, int i, const char *tensor, const double *from,
                                size_t n) {
    float *values = check_normal(calls->check, n, 1, F32);
    for (size_t k = 0; k < n; k++) {
        values[k] = (float)from[k];
    }
    give(calls, i, tensor, values, n);
}

static inline Expected *expect(Calls *calls, int i, const char *tensor, const double *want,
                               size_t n, size_t parts, Tolerance tolerance) {
    CHECK(calls->expecteds < EXPECTED, "more than %d tensors", EXPECTED);
    Expected *expected = &calls->expected[calls->expecteds++];
    *expected = (Expected){.precision = (Precision)calls->c[i].precision,
                           .want = want,
                           .n = n,
                           .parts = parts,
                           .tolerance = tolerance};
    kernel_tensor(expected->name, tensor, i, &calls->c[i]);
    check_want(calls->check, expected->name, WIRE_F32, parts > 0 ? parts * n : n);
    return expected;
}

/* A copy of `from` that a mistake will be made of. */
static inline double *suspect(Calls *calls, Expected *expected, const char *sentence,
                              const double *from) {
    CHECK(expected->suspects < SUSPECTS, "more than %d suspects", SUSPECTS);
    double *values = check_doubles(calls->check, expected->n);
    if (from != NULL) {
        memcpy(values, from, expected->n * sizeof *values);
    }
    expected->suspect[expected->suspects++] = (Suspect){sentence, values};
    return values;
}

/* ---- the judge ------------------------------------------------------------------------------- */

static inline bool run(Calls *calls) {
    check_memory(calls->check, 0);
    return check_run(calls->check, calls->op, SECONDS);
}

static inline void plan_done(Calls *calls) {
    check_give(calls->check, "cases", WIRE_BYTES, calls->c,
               (size_t)calls->count * sizeof calls->c[0]);
    want_profile(calls->check);
}

/* Adds up the parts that somebody has written: fresh memory is 0xFF. */
static inline void add_parts(float *sum, const float *part, size_t n, size_t parts) {
    for (size_t i = 0; i < n; i++) {
        double total = 0;
        for (size_t p = 0; p < parts; p++) {
            uint32_t bits;
            memcpy(&bits, &part[p * n + i], sizeof bits);
            total += bits != 0xFFFFFFFFu ? (double)part[p * n + i] : 0;
        }
        sum[i] = (float)total;
    }
}

/* The sentence of the known mistake that would give these numbers, or NULL. */
static const char *known_mistake(const Expected *e, const float *got) {
    for (int s = 0; s < e->suspects; s++) {
        if (compare(got, e->suspect[s].values, e->n, e->tolerance).pass) {
            return e->suspect[s].sentence;
        }
    }
    return NULL;
}

static inline bool close_parts(Calls *calls, const Expected *e) {
    float *sum = check_normal(calls->check, e->n, 0, F32);
    add_parts(sum, check_got(calls->check, e->name, WIRE_F32), e->n, e->parts);
    Comparison comparison = compare(sum, e->want, e->n, e->tolerance);
    if (comparison.pass) {
        check_good(calls->check);
        return true;
    }
    const char *likely = known_mistake(e, sum);
    char text[COMPARISON_TEXT], shape[COMPARISON_TEXT];
    if (likely == NULL && comparison_shape(sum, e->want, e->n, e->tolerance, shape)[0] != '\0') {
        likely = shape;
    }
    check_fail(calls->check, "the partial sums added up: %s; %s%s",
               comparison_text(&comparison, e->name, text), likely != NULL ? "likely: " : "",
               likely != NULL ? likely : "look at what each thread and block takes");
    return false;
}

/* Nearly right: rounded once too often. */
static inline bool rounded_sum(Calls *calls, const Expected *e) {
    const float *got = check_got(calls->check, e->name, WIRE_F32);
    Comparison comparison = compare(got, e->want, e->n, e->tolerance);
    bool nearly = !comparison.pass && comparison.not_finite == 0 &&
                  comparison.norm_error < (e->precision == F32 ? 2e-3 : 1e-1);
    if (!nearly || known_mistake(e, got) != NULL) {
        return false;
    }
    char text[COMPARISON_TEXT];
    check_fail(calls->check,
               "%s; nearly right. Is a sum kept in half? Sums are float whatever the precision",
               comparison_text(&comparison, e->name, text));
    return true;
}

static inline bool judge(Calls *calls) {
    for (int i = 0; i < calls->expecteds; i++) {
        const Expected *e = &calls->expected[i];
        if (e->parts == 0 && !calls->large && rounded_sum(calls, e)) {
            return false;
        }
        bool right = e->parts > 0 ? close_parts(calls, e)
                                  : check_close(calls->check, e->name, e->want, e->n, e->tolerance,
                                                e->suspect, e->suspects);
        if (!right) {
            return false;
        }
    }
    return true;
}

static inline void grade_numbers(Calls *calls) {
    plan_done(calls);
    if (run(calls)) {
        judge(calls);
    }
}

/* Without points: nobody loses any for having no GPU. */
static inline void grade_on_gpu(Calls *calls) {
    plan_done(calls);
    if (check_run_on_gpu(calls->check, calls->op, SECONDS)) {
        judge(calls);
    }
}

/* A report comes before the numbers: it says why they are wrong. */
static inline void grade_clean(Calls *calls) {
    plan_done(calls);
    if (run(calls) && expect_clean(calls->check)) {
        judge(calls);
    }
}

/* All that came back, one after the other. */
static inline size_t keep(const Calls *calls, float *to) {
    size_t n = 0;
    for (int i = 0; i < calls->expecteds; i++) {
        const Expected *e = &calls->expected[i];
        if (to != NULL) {
            memcpy(to + n, check_got(calls->check, e->name, WIRE_F32), e->n * sizeof *to);
        }
        n += e->n;
    }
    return n;
}

static inline void grade_schedules(Calls *calls) {
    plan_done(calls);
    char random[100];
    snprintf(random, sizeof random, "CUDASIM_SCHED=random:%d", check_int(calls->check, 1, 1 << 20));
    const char *schedule[] = {"CUDASIM_SCHED=forward", "CUDASIM_SCHED=reverse", random};
    size_t n = keep(calls, NULL);
    float *first = check_normal(calls->check, n, 0, F32);
    float *next = check_normal(calls->check, n, 0, F32);
    for (int s = 0; s < 3; s++) {
        check_environment(calls->check, schedule[s]);
        /* The first run's numbers are judged, the others' must be the same: by the bits. */
        if (!run(calls) || (s == 0 && !judge(calls))) {
            return;
        }
        keep(calls, s == 0 ? first : next);
        if (s > 0 && memcmp(first, next, n * sizeof *first) != 0) {
            check_fail(calls->check,
                       "with %s the bits are not those of a run forward: threads, warps and blocks "
                       "may come in any order. Look for a sum whose order nothing fixes (atomics), "
                       "or a missing barrier",
                       schedule[s]);
            return;
        }
    }
}

static inline void grade_traffic(Calls *calls) {
    plan_done(calls);
    check_environment(calls->check, "CUDASIM_PROFILE=1");
    if (run(calls) && judge(calls)) {
        double sectors[2];
        expect_neighbours(calls->check, sectors);
    }
}

#endif
