/* Many draws of a check: a mistake that few seeds show, and two that few seeds tell apart. */
#include "grader/draws.h"

#include <criterion/criterion.h>
#include <math.h>

/* The language of checks needs a judge; these bodies compare by themselves. */
Check *check_begin(const CheckPlan *plan) {
    (void)plan;
    return NULL;
}

void check_end(Check *check) {
    (void)check;
}

/* A number of low, low + 1, low + 2, which should be none: it is 2 n or n^2. */
static void draw_one(int low, int mistakes) {
    uint64_t n = (uint64_t)low + draw_seed(draw_now()) % 3;
    uint64_t none = 0, twice = 2 * n, square = n * n;
    ExactSuspect suspects[] = {{"twice", &twice}, {"squared", &square}};
    draw_numbers(draw_now(), &none, 1, suspects, mistakes);
}

static void hidden(Check *check) {
    (void)check;
    draw_one(0, 1);
}

static void together(Check *check) {
    (void)check;
    draw_one(1, 2);
}

static void apart(Check *check) {
    (void)check;
    draw_one(3, 2);
}

static int problems(void (*body)(Check *check), const char *only) {
    CheckPlan plan = {.lab = "00", .name = "drawn", .body = body};
    const CheckPlan *plans[] = {&plan};
    return draws_make(plans, 1, 60, only);
}

Test(draws, a_mistake_that_some_seeds_hide_is_a_problem) {
    cr_expect_gt(problems(hidden, "drawn"), 0);
}

Test(draws, two_mistakes_that_some_seeds_make_one_are_a_problem) {
    cr_expect_gt(problems(together, "drawn"), 0);
}

Test(draws, what_every_seed_shows_and_tells_apart_is_none) {
    cr_expect_eq(problems(apart, NULL), 0);
}

/* Two that are one always, and one that is right always. */
static void never(Check *check) {
    (void)check;
    uint64_t right = 1, wrong = 2;
    ExactSuspect suspects[] = {{"one", &wrong}, {"the other", &wrong}, {"neither", &right}};
    draw_numbers(draw_now(), &right, 1, suspects, 3);
}

Test(draws, mistakes_that_no_check_of_a_lab_shows_or_tells_apart_are_problems) {
    cr_expect_eq(problems(never, "drawn"), 0);
    cr_expect_eq(problems(never, NULL), 2);
}

Test(draws, no_number_is_minus_zero) {
    static const float tiny[] = {[F32] = 0, [F16] = 0x1p-26f, [BF16] = 0x1p-140f};
    for (Precision precision = F32; precision <= BF16; precision++) {
        float got = check_round(-tiny[precision], precision);
        cr_expect(got == 0 && !signbit(got), "%d: %g", (int)precision, (double)got);
        cr_expect_eq(check_round(-2, precision), -2);
    }
}
