/* Lab 90: what is graded. */
#include "grader/check.h"

enum { SECONDS = 20 };

/* Pairs at the same distance from their mean, which so is known without a sum. */
static void judge_mean(Check *check, int pairs) {
    int n = 2 * pairs;
    float *x = check_normal(check, (size_t)n, 1, F32);
    double want = pairs > 0 ? check_int(check, 1, 9) : 0, sum = want * n;
    for (int i = 0; i < n; i += 2) {
        x[i + 1] = (float)(2 * want - (double)x[i]);
    }
    Suspect suspect = {"the sum is not divided by n", &sum};
    check_give(check, "x", WIRE_F32, x, (size_t)n);
    check_want(check, "mean", WIRE_F32, 1);
    if (check_run(check, "mean", SECONDS)) {
        check_close(check, "mean", &want, 1, tolerance_of_op(F32, n), &suspect, 1);
    }
}

GRADED(90_example, mean, "task 1: the mean of some numbers") {
    judge_mean(check, check_int(check, 50, 100));
}

GRADED(90_example, none, "task 1: the mean of none") {
    judge_mean(check, 0);
}

GRADED(90_example, square, "task 2: squares, on the simulated GPU") {
    int n = check_int(check, 300, 500);
    const float *x = check_normal(check, (size_t)n, 1, F32);
    double *want = check_doubles(check, (size_t)n);
    for (int i = 0; i < n; i++) {
        want[i] = (double)x[i] * (double)x[i];
    }
    check_memory(check, 0);
    check_give(check, "x", WIRE_F32, x, (size_t)n);
    check_want(check, "squares", WIRE_F32, (size_t)n);
    if (check_run(check, "square", SECONDS)) {
        check_close(check, "squares", want, (size_t)n, tolerance_of_op(F32, 1), NULL, 0);
    }
}
