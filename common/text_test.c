#include "common/text.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

Test(text, a_terminal_is_not_steered) {
    char text[] = "\033[2Ja\tb\nc\r\x7f\xff\0~ d";
    text_plain(text, sizeof text - 1, "\n\t");
    cr_assert_str_eq(text, "?[2Ja\tb\nc????~ d");
}

Test(text, one_line_stays_one) {
    char text[] = "a\nb\tc";
    text_plain(text, strlen(text), "");
    cr_assert_str_eq(text, "a?b?c");
}

/* Published values of FNV-1a with 64 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
Test(text, hashes_are_fnv) {
    cr_assert_eq(hash_text(""), 0xcbf29ce484222325u);
    cr_assert_eq(hash_text("a"), 0xaf63dc4c8601ec8cu);
    cr_assert_eq(hash_text("foobar"), 0x85944171f73967e8u);
}

Test(text, nan_is_written_as_people_do) {
    char text[80];
    snprintf(text, sizeof text, "%g, not %g: finance, nanometre and %g(1)", -(double)NAN,
             (double)NAN, 2.5);
    text_nan(text);
    cr_assert_str_eq(text, "NaN, not NaN: finance, nanometre and 2.5(1)");
}
