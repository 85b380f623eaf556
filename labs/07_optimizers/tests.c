/* Lab 07: what is graded. Ops run in the simulator, each step judged from the states that came back
   from the one before; known mistakes are in grader/labs/07_optimizers. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grader/judge_profile.h"
#include "grader/labs/07_optimizers/bytes.h"
#include "grader/labs/07_optimizers/choice.h"
#include "grader/labs/07_optimizers/codebooks.h"
#include "grader/labs/07_optimizers/eight.h"
#include "grader/labs/07_optimizers/factors.h"

/* ---- task 1 ---------------------------------------------------------------------------------- */

GRADED(07_optimizers, codebook_signed, "task 1: 256 values with a sign, bit by bit") {
    codebook_expect(check, true);
}

GRADED(07_optimizers, codebook_unsigned, "task 1: 256 values without one") {
    codebook_expect(check, false);
}

/* ---- task 2 ---------------------------------------------------------------------------------- */

/* Whether the op has run, and kernels have made what came back. */
static bool run_op(Check *check, const char *op, size_t fetched) {
    return check_run(check, op, SECONDS) && profile_expect_no_fetch(check, fetched);
}

static void grade_eight(Eight *eight) {
    Check *check = eight->check;
    eight_plan(eight, 0);
    profile_want(check);
    profile_want_once(check);
    if (run_op(check, "adam8", eight_fetched(eight, false)) && eight_judge(eight)) {
        profile_expect_shared(check, eight_bytes(eight), profile_any_kernel);
    }
}

GRADED(07_optimizers, adam8_first, "task 2: the first step is AdamW's; its codes and scales") {
    grade_eight(eight_new(check, 1, true));
}

GRADED(07_optimizers, adam8_codes, "task 2: a step in the middle of training: every code") {
    grade_eight(eight_new(check, 1, false));
}

/* Cubes, and in the next step fifth powers, close together near 0, which has another code than in
   the codebooks of task 1; first moments that stood for 0 do so again. It is late in training. */
static void take_other_books(Eight *eight) {
    enum { ZERO_BEFORE = 127, ZERO = 90 };
    uint8_t *code = (uint8_t *)eight->start.m.code;
    for (int c = 0; c < ADAM8_CODES; c++) {
        double m = (c - ZERO) / (255.0 - ZERO), v = c / 255.0;
        eight->books[0].m[c] = (float)(m * m * m);
        eight->books[0].v[c] = (float)(v * v * v);
        eight->books[1].m[c] = (float)(m * m * m * m * m);
        eight->books[1].v[c] = (float)(v * v * v * v * v);
    }
    eight->t = check_int(eight->check, 257, 300); /* not into a byte */
    eight_plant_tie(eight, ZERO);
    for (size_t i = 0; i < eight->all; i++) {
        code[i] = code[i] == ZERO_BEFORE ? ZERO : code[i];
    }
}

GRADED(07_optimizers, adam8_books, "task 2: with other codebooks than those of task 1") {
    Eight *eight = eight_new(check, 2, false);
    take_other_books(eight);
    grade_eight(eight);
}

GRADED(07_optimizers, adam8_bad, "task 2: NaN and inf are not hidden") {
    static const float bad[] = {NAN, INFINITY, -INFINITY, -NAN};
    Eight *eight = eight_new(check, 1, false);
    int first = 0;
    for (int k = 0; k < eight->tensors; first += eight->n[k++]) {
        if (eight->n[k] > 40) {
            eight->grad[first + check_int(check, 5, 39)] = bad[k % 4];
        }
    }
    grade_eight(eight);
}

/* Beyond any limit that a launch may have of its own; and rows, which a grid may have in y or z. */
enum { FEW_NUMBERS = 1 << 20, MANY_NUMBERS = 100 * FEW_NUMBERS, MANY_ROWS = 2 * FEW_NUMBERS };
enum { MANY_SECONDS = 3 * SECONDS /* where a grid is small, a block of it has much to do */ };

static void expect_launches(Check *check, const char *probe_case, uint64_t many, const char *what) {
    char size[80];
    snprintf(size, sizeof size, "%llu %s", (unsigned long long)many, what);
    check_give(check, "many", WIRE_U64, &many, 1);
    profile_expect_launches(check, probe_case, SECONDS, size);
}

GRADED(07_optimizers, adam8_clean, "adam8: bounds, initialisation, races, divergence") {
    Eight *eight = eight_new(check, 2, false);
    eight_plan(eight, 0);
    profile_want(check);
    if (run_op(check, "adam8", eight_fetched(eight, false)) && profile_expect_clean(check) &&
        eight_judge(eight) &&
        profile_expect_shared(check, eight_bytes(eight), profile_any_kernel)) {
        expect_launches(check, "adam8_many", MANY_NUMBERS, "numbers");
    }
}

/* The bits of a tensor after the last step, with three orders of threads, warps and blocks. */
static bool same_in_each_order(Check *check, const char *op, const char *tensor, size_t n,
                               size_t fetched) {
    char random[100];
    snprintf(random, sizeof random, "CUDASIM_SCHED=random:%d", check_int(check, 1, 1 << 20));
    const char *schedule[] = {"CUDASIM_SCHED=forward", "CUDASIM_SCHED=reverse", random};
    float *first = check_normal(check, n, 0, F32);
    for (int s = 0; s < 3; s++) {
        check_environment(check, schedule[s]);
        if (!run_op(check, op, fetched)) {
            return false;
        }
        const float *got = check_got(check, tensor, WIRE_F32);
        if (s == 0) {
            memcpy(first, got, n * sizeof *first);
        } else if (memcmp(first, got, n * sizeof *first) != 0) {
            check_fail(check,
                       "with %s the bits are not those of a run forward: threads, warps and blocks "
                       "may come in any order. Look for a sum whose order nothing fixes (atomics), "
                       "or a missing barrier",
                       schedule[s]);
            return false;
        }
    }
    return true;
}

GRADED(07_optimizers, adam8_schedules, "adam8: the same bits in three orders") {
    Eight *eight = eight_new(check, 2, false);
    eight_plan(eight, 0);
    profile_want(check);
    profile_want_once(check);
    if (same_in_each_order(check, "adam8", "weight 1", eight->all, eight_fetched(eight, false)) &&
        eight_judge(eight)) {
        profile_expect_shared(check, eight_bytes(eight), profile_any_kernel);
    }
}

GRADED(07_optimizers, adam8_traffic, "adam8: sectors per request") {
    Eight *eight = eight_new_of(check, 1 << 15);
    double sectors[2];
    eight_plan(eight, 0);
    profile_want(check);
    profile_want_traffic(check);
    if (run_op(check, "adam8", eight_fetched(eight, false)) && eight_judge(eight) &&
        profile_expect_shared(check, eight_bytes(eight), profile_good_kernel)) {
        profile_expect_neighbours(check, sectors);
    }
}

GRADED(07_optimizers, adam8_large, "adam8: more numbers than the kernel has threads") {
    Eight *eight = eight_new_large(check);
    eight_plan(eight, 0);
    profile_want(check);
    profile_want_once(check);
    if (run_op(check, "adam8", eight_fetched(eight, false)) && eight_judge_large(eight) &&
        profile_expect_shared(check, eight_bytes(eight), profile_any_kernel)) {
        check_give(check, "many", WIRE_U64, (uint64_t[]){FEW_NUMBERS}, 1);
        profile_expect_whole(check, "adam8_many", MANY_SECONDS, FEW_NUMBERS, MANY_NUMBERS,
                             "numbers");
    }
}

/* ---- tasks 3 and 4 --------------------------------------------------------------------------- */

/* Up to a task, or all; where it is the means alone, a kernel of task 4 may end the program. */
static void grade_factors(Factors *factors, int until) {
    Check *check = factors->check;
    factors_plan(factors, until, 0);
    profile_want(check);
    profile_want_once(check);
    bool run = check_run(check, "adafactor", SECONDS) ||
               (until > 0 &&
                profile_run_without(check, "adafactor", SECONDS, factors_means_are_right, factors));
    if (run && profile_expect_no_fetch(check, factors_fetched(factors, false)) &&
        factors_judge(factors, until == 0)) {
        profile_expect_shared(check, factors_bytes(factors, until == 0), profile_any_kernel);
    }
}

GRADED(07_optimizers, means, "task 3: row and column means, over four steps") {
    grade_factors(factors_new(check, FACTORS_MANY, FACTOR_STEPS), 4);
}

GRADED(07_optimizers, adafactor, "task 4: updates, clipped and not") {
    grade_factors(factors_new(check, FACTORS_MANY, FACTOR_STEPS), 0);
}

GRADED(07_optimizers, adafactor_tiny,
       "task 4: gradients whose squares are near epsilon, and zeros") {
    grade_factors(factors_new(check, FACTORS_TINY, 2), 0);
}

GRADED(07_optimizers, adafactor_apart, "task 4: one tensor does not see another") {
    Factors *factors = factors_new(check, FACTORS_TWICE, 2);
    factors_plan(factors, 0, 0);
    profile_want(check);
    profile_want_once(check);
    if (run_op(check, "adafactor", factors_fetched(factors, false)) &&
        factors_judge(factors, true) && factors_judge_twice(factors)) {
        profile_expect_shared(check, factors_bytes(factors, true), profile_any_kernel);
    }
}

GRADED(07_optimizers, adafactor_clean, "adafactor: bounds, initialisation, races, divergence") {
    Factors *factors = factors_new(check, FACTORS_MANY, 2);
    factors_plan(factors, 0, 0);
    profile_want(check);
    if (run_op(check, "adafactor", factors_fetched(factors, false)) &&
        profile_expect_clean(check) && factors_judge(factors, true) &&
        profile_expect_shared(check, factors_bytes(factors, true), profile_any_kernel)) {
        expect_launches(check, "adafactor_many", MANY_ROWS, "rows of 8 numbers");
    }
}

GRADED(07_optimizers, adafactor_schedules, "adafactor: the same bits in three orders") {
    Factors *factors = factors_new(check, FACTORS_MANY, 2);
    factors_plan(factors, 0, 0);
    profile_want(check);
    profile_want_once(check);
    if (same_in_each_order(check, "adafactor", "weight 1", factors->all,
                           factors_fetched(factors, false)) &&
        factors_judge(factors, true)) {
        profile_expect_shared(check, factors_bytes(factors, true), profile_any_kernel);
    }
}

GRADED(07_optimizers, adafactor_traffic, "adafactor: sectors per request") {
    Factors *factors = factors_new(check, FACTORS_LARGE, 1);
    double sectors[2];
    factors_plan(factors, 0, 0);
    profile_want(check);
    profile_want_traffic(check);
    if (run_op(check, "adafactor", factors_fetched(factors, false)) &&
        factors_judge(factors, true) &&
        profile_expect_shared(check, factors_bytes(factors, true), profile_good_kernel)) {
        profile_expect_neighbours(check, sectors);
    }
}

/* ---- tasks 5 and 6 --------------------------------------------------------------------------- */

GRADED(07_optimizers, bytes, "task 5: bytes of each optimizer's states") {
    bytes_expect(check);
}

GRADED(07_optimizers, choose, "task 6: optimizer and plan together") {
    check_after(check, "bytes");
    optims_expect(check);
}

/* ---- resumed --------------------------------------------------------------------------------- */

GRADED(07_optimizers, adam8_resumed,
       "adam8: seven steps, and goes on from saved states, bit for bit") {
    check_after(check, "adam8_first adam8_codes");
    Eight *eight = eight_new(check, EIGHT_STEPS, true);
    eight->rate[EIGHT_STEPS - 2] = 0; /* as a schedule may have it: moments change even so */
    eight_plan(eight, EIGHT_STEPS / 2);
    profile_want(check);
    profile_want_once(check);
    if (run_op(check, "adam8", eight_fetched(eight, true)) && eight_judge(eight) &&
        eight_judge_gradient(eight) && eight_judge_again(eight)) {
        profile_expect_shared(check, eight_bytes(eight), profile_any_kernel);
    }
}

GRADED(07_optimizers, adafactor_resumed, "adafactor: goes on from saved states, bit for bit") {
    check_after(check, "adafactor");
    Factors *factors = factors_new(check, FACTORS_MANY, FACTOR_STEPS);
    factors->rate[2] = 0; /* as a schedule may have it: R and C change even so */
    factors_plan(factors, 0, 2);
    profile_want(check);
    profile_want_once(check);
    if (run_op(check, "adafactor", factors_fetched(factors, true)) &&
        factors_judge(factors, true) && factors_judge_gradient(factors) &&
        factors_judge_again(factors)) {
        profile_expect_shared(check, factors_bytes(factors, true), profile_any_kernel);
    }
}
