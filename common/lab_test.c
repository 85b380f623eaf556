#include "common/lab.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>
#include <stdlib.h>
#include <string.h>

static void expect_line(const char *want) {
    char line[256] = "";
    fflush(stderr);
    cr_assert_not_null(fgets(line, sizeof line, cr_get_redirected_stderr()));
    cr_assert_str_eq(line, want);
}

static void after_todo(void) {
    expect_line("common/lab_test.c:21: TODO: task 1: fill it in (about 2 lines)\n");
}

Test(lab, a_hole_says_where_and_what, .init = cr_redirect_stderr, .exit_code = EXIT_TODO) {
    atexit(after_todo);
    TODO("task 1: fill it in (about 2 lines)");
}

static void after_missing(void) {
    expect_line("needs lab 04 (04_checkpoint/checkpoint.c is not here)\n");
}

Test(lab, a_missing_lab_is_named, .init = cr_redirect_stderr, .exit_code = EXIT_USAGE) {
    atexit(after_missing);
    lab_missing("04", "04_checkpoint/checkpoint.c");
}
