/* How far a command has come. */
#include "train/meter.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* A meter of ten that has run for a while, and writes each time. */
static Meter meter_since(double seconds, bool terminal, FILE *to) {
    Meter meter = meter_begin("plans", 10);
    meter.began -= seconds;
    meter.every = 0;
    meter.terminal = terminal;
    meter.to = to;
    return meter;
}

static const char *text_of(FILE *file, char text[200]) {
    rewind(file);
    text[fread(text, 1, 199, file)] = '\0';
    fclose(file);
    return text;
}

Test(meter, plain_lines_where_there_is_no_terminal) {
    char text[200];
    FILE *file = tmpfile();
    Meter meter = meter_since(100, false, file);
    meter_tell(&meter, 5);
    meter_clear(&meter);
    cr_assert_str_eq(text_of(file, text), "5 of 10 plans, left 1:40\n");
}

Test(meter, one_line_on_a_terminal_and_gone_in_the_end) {
    char text[200];
    FILE *file = tmpfile();
    Meter meter = meter_since(100, true, file);
    meter_tell(&meter, 2);
    meter_tell(&meter, 5);
    meter_clear(&meter);
    meter_clear(&meter);
    cr_assert_str_eq(text_of(file, text), "\r\033[K2 of 10 plans, left 6:40"
                                          "\r\033[K5 of 10 plans, left 1:40\r\033[K");
}

Test(meter, a_short_command_says_nothing) {
    char text[200];
    FILE *file = tmpfile();
    Meter meter = meter_since(1, false, file);
    meter.every = 5;
    meter_tell(&meter, 1);
    meter.every = 0;
    meter_tell(&meter, 0);  /* nothing is done: no time left is known */
    meter_tell(&meter, 10); /* all is done: nothing is left */
    cr_assert_str_eq(text_of(file, text), "");
}

Test(meter, durations) {
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {{1.46, "1.5 s"}, {123, "2:03"}, {3723, "1:02:03"}, {1e9, "-"}};
    char text[DURATION_BYTES];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cr_expect_str_eq(duration_text(text, cases[i].seconds), cases[i].text);
    }
}
