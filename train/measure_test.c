/* The middle, the least and the noise of durations, and what is said of a busy machine. */
#include "train/measure.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdio.h>

#include "train/rates.h"

Test(measure, noise_is_the_middle_over_the_least) {
    double values[] = {9, 2, 4, 3, 2.5};
    cr_assert_eq(least(values, 5), 2);
    cr_assert_eq(noise(values, 5), 1.5);
    cr_assert_eq(median(values, 5), 3);
    cr_assert_eq(noise((double[]){7, 7, 70}, 3), 1, "one interruption is not noise");
    cr_assert_eq(noise((double[]){0, 0, 1}, 3), 1, "a clock that stands still");
}

Test(measure, a_busy_machine_is_named, .init = cr_redirect_stderr) {
    rates_warn(1.05);
    fprintf(stderr, "|");
    rates_warn(1.5);
    fflush(stderr);
    cr_assert_stderr_eq_str(
        "|warning: the machine is busy: a product takes 1.5 times as long as when it is fastest, "
        "so "
        "the rates may\nbe wrong, and a plan that is chosen by them too. Run it again when nothing "
        "else runs\n");
}
