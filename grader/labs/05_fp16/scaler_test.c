/* Lab 05's scaler against its automaton. */
#include <criterion/criterion.h>

#include "labs/05_fp16/contract.h"

Test(scaler, starts_as_it_should) {
    Scaler s;
    scaler_init(&s);
    cr_assert(s.scale == 65536 && s.growth == 2 && s.backoff == 0.5f && s.floor == 1 &&
              s.interval == 2000 && s.good_steps == 0);
}

/* g good, b bad; interval 5, by hand. */
Test(scaler, follows_the_automaton) {
    static const char steps[] = "ggggggggggbgggggggggbbggggg";
    static const float want[] = {16, 16, 16, 16, 32, 32, 32, 32, 32, 64, 32, 32, 32, 32,
                                 32, 64, 64, 64, 64, 64, 32, 16, 16, 16, 16, 16, 32};
    static const int good[] = {1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 0, 1, 2, 3,
                               4, 0, 1, 2, 3, 4, 0, 0, 1, 2, 3, 4, 0};
    Scaler s = {.scale = 16, .growth = 2, .backoff = 0.5f, .floor = 1, .interval = 5};
    for (size_t i = 0; i < sizeof steps - 1; i++) {
        scaler_update(&s, steps[i] == 'b');
        cr_assert_eq(s.scale, want[i], "step %zu: scale %g", i, (double)s.scale);
        cr_assert_eq(s.good_steps, good[i], "step %zu: %d good steps", i, s.good_steps);
    }
}

Test(scaler, neither_falls_nor_grows_for_ever) {
    Scaler s = {.scale = 8, .growth = 2, .backoff = 0.5f, .floor = 3, .interval = 1};
    scaler_update(&s, true);
    scaler_update(&s, true);
    scaler_update(&s, true);
    cr_assert_eq(s.scale, 3.0f);
    s.scale = 0x1p127f;
    scaler_update(&s, false);
    cr_assert_eq(s.scale, 0x1p127f);
    cr_assert_eq(s.good_steps, 0);
}
