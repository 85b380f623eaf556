/* The commands that tests run: one that goes on after its test makes no reader wait. */
#include "common/testkit/program.h"

#include <criterion/criterion.h>
#include <string.h>

Test(program, holds_no_output_of_the_tests) {
    cr_assert_eq(shell("readlink /proc/$$/fd/1 /proc/$$/fd/2"), 0, "%s", output);
    const char *second = strchr(output, '\n');
    cr_assert_not_null(second, "%s", output);
    cr_assert(strncmp(output, second + 1, (size_t)(second + 1 - output)) == 0, "%s", output);
}

Test(program, ends_in_the_end) {
    cr_assert_eq(shell("ulimit -t"), 0);
    cr_assert_str_eq(output, "1200\n");
}
