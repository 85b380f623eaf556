/**
 * @file 03_case.h
 * @brief The judge's part of lab 03: what a check gives to the probe, and wants back.
 * @ingroup grader
 */
#ifndef GRADER_JUDGES_03_CASE_H
#define GRADER_JUDGES_03_CASE_H

#include "grader/judges/training.h"
#include "grader/probes/03_accumulate.h"
#include "grader/probes/watch.h"

enum { MOST_WINDOWS = 8 };

/* What a check gives, the micro-batches of one epoch, and where its windows have come to. */
typedef struct Case {
    Given given;
    int steps, epochs, stop, gpu;
    double *m, *v; /* (P) moments of the windows so far */
} Case;

/* ---- what is given --------------------------------------------------------------------------- */

/* Windows of `steps` of so many micro-batches, whose sizes differ by more than ten times. */
static inline Case case_of(Check *check, ModelConfig config, int micros, int steps) {
    Case it = {.given = given_new(check, config, "window"),
               .gpu = check_on_gpu(),
               .steps = steps,
               .epochs = 1};
    for (int i = 0; i < micros; i++) {
        bool small = i % 3 == 0;
        it.given.batch[i] = uneven_batch(check, config.V, small ? 1 : check_int(check, 3, 4),
                                         small ? check_int(check, 2, 3) : config.T);
    }
    it.given.batches = micros;
    it.m = check_doubles(check, it.given.P);
    it.v = check_doubles(check, it.given.P);
    return it;
}

static inline Case case_new(Check *check, int micros, int steps, float dropout) {
    ModelConfig config = {.V = 256, .T = 12, .L = 2, .NH = 2, .C = 16, .dropout = dropout};
    return case_of(check, config, micros, steps);
}

static inline int windows_per_epoch(const Case *it) {
    return (it->given.batches + it->steps - 1) / it->steps;
}

static inline int windows_of(const Case *it) {
    return it->stop > 0 ? it->stop : it->epochs * windows_per_epoch(it);
}

/* The micro-batches of a window: the first, and how many. */
static inline int first_of(const Case *it, int window) {
    return window % windows_per_epoch(it) * it->steps;
}

static inline int count_of(const Case *it, int window) {
    int left = it->given.batches - first_of(it, window);
    return left < it->steps ? left : it->steps;
}

/* Everything that every case of the probe needs; check_run() may follow more than once. */
static inline void prepare(const Case *it, int wants) {
    Check *check = it->given.check;
    int windows = windows_of(it);
    int32_t plan[PLAN_SIZE] = {it->steps, it->epochs, it->stop, wants, it->gpu};
    give(&it->given);
    check_give(check, "plan", WIRE_I32, plan, PLAN_SIZE);
    check_want(check, "windows", WIRE_U64, 1);
    check_want(check, "peak", WIRE_U64, 1);
    static const char *const floats[] = {"loss", "grad_norm", "learning_rate"};
    static const char *const numbers[] = {"tokens", "schedule.step", "optimizer.steps",
                                          "open.window", "open.tokens"};
    for (int i = 0; i < 3; i++) {
        check_want(check, floats[i], WIRE_F32, (size_t)windows);
    }
    for (int i = 0; i < 5; i++) {
        check_want(check, numbers[i], WIRE_U64, (size_t)windows);
    }
    check_want(check, "sync_gradients", WIRE_U64, (size_t)it->given.batches);
    check_want(check, "trace", WIRE_U64, (size_t)windows * TRACE_LENGTH);
    if (wants & WANT_GRADIENTS) {
        want_params(&it->given, NAME_GRADIENT, windows);
    }
    if (wants & WANT_UPDATE) {
        want_params(&it->given, NAME_WEIGHT, windows);
        want_params(&it->given, NAME_M, windows);
        want_params(&it->given, NAME_V, windows);
    }
    if (wants & WANT_LEFT) {
        want_params(&it->given, NAME_LEFT, windows);
    }
}

#endif
