/* A part that may end its program, tried in a child. */
#include "train/attempt.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdlib.h>

#include "common/lab.h"
#include "kernels/base.h"

static void twice(void *context, void *result) {
    int *number = context;
    *(int *)result = 2 * *number;
    *number = 0;
}

static void hole(void *context, void *result) {
    *(int *)result = *(int *)context;
    todo_reached("labs/04_x/file.c", 7, "task 1: a line");
}

static void no_lab(void *context, void *result) {
    (void)context, (void)result;
    lab_missing("05", "05_fp16/cast.cu");
}

static void bug(void *context, void *result) {
    CHECK(result == NULL, "a bug of %d", *(int *)context);
}

Test(attempt, brings_the_result_and_nothing_else) {
    int number = 21, result = 5;
    Attempt made = attempt(twice, &number, &result, sizeof result);
    cr_assert(made.done && !made.todo && made.status == 0);
    cr_assert_eq(result, 42);
    cr_assert_eq(number, 21, "a child's memory is its own");
}

Test(attempt, a_hole_is_said_and_is_no_failure, .init = cr_redirect_stderr) {
    int number = 21, result = 5;
    Attempt made = attempt(hole, &number, &result, sizeof result);
    cr_assert(!made.done && made.todo && made.status == 0);
    cr_assert_str_eq(made.said, "labs/04_x/file.c:7: TODO: task 1: a line");
    cr_assert_eq(result, 0, "half a result is none");
    made = attempt(no_lab, &number, &result, sizeof result);
    cr_assert(!made.done && made.todo && made.status == 0);
    cr_assert_str_eq(made.said, "needs lab 05 (05_fp16/cast.cu is not here)");
    fflush(stderr);
    cr_assert_stderr_eq_str("");
}

Test(attempt, a_bug_is_a_failure, .init = cr_redirect_stderr) {
    int number = 21, result = 5;
    Attempt made = attempt(bug, &number, &result, sizeof result);
    cr_assert(!made.done && !made.todo && made.status == EXIT_RUN);
    cr_assert_str_eq(strstr(made.said, "CHECK(result"),
                     "CHECK(result == NULL) failed: a bug of 21");
    cr_assert_eq(result, 0);
}
