#include "kernels/scale.h"

#include <criterion/criterion.h>
#include <math.h>

#include "common/testkit/fixture.h"

/* One number, none, a pack and a bit, whole blocks, more than one block. */
static const size_t sizes[] = {1, 31, 0, 33, 256, 257, 1030};
enum { SIZES = sizeof sizes / sizeof *sizes };

Test(scale, multiplies) {
    static const double factors[] = {0, 1, -0.3, 1.0 / 65536};
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < 4; s++) {
            double factor = (double)(float)factors[s], *want[SIZES];
            float *x[SIZES];
            for (int i = 0; i < SIZES; i++) {
                want[i] = fixture_random_float(&f, sizes[i], 1);
                x[i] = fixture_float(&f, want[i], sizes[i]);
            }
            f.ops->scale(fixture_list(&f, x, sizes, NULL, SIZES), (float)factor);
            for (int i = 0; i < SIZES; i++) {
                for (size_t k = 0; k < sizes[i]; k++) {
                    want[i][k] = (double)(float)(want[i][k] * factor);
                }
                /* One product, rounded once: exactly this float. */
                fixture_expect_float(&f, "x", x[i], want[i], sizes[i], (Tolerance){0, 0, 0});
            }
        }
    }
}

Test(scale, an_empty_list_is_fine) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        float *x = fixture_float(&f, NULL, 0);
        size_t none = 0;
        f.ops->scale(fixture_list(&f, NULL, NULL, NULL, 0), 2);
        f.ops->scale(fixture_list(&f, &x, &none, NULL, 1), 2);
    }
}

Test(scale, nan_and_infinity_are_data) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        double values[] = {(double)NAN, (double)INFINITY, 1};
        size_t n = 3;
        float *x = fixture_float(&f, values, n);
        f.ops->scale(fixture_list(&f, &x, &n, NULL, 1), 0);
        float *got = fixture_read_float(&f, x, n);
        cr_assert(isnan((double)got[0]) && isnan((double)got[1]) && got[2] == 0);
    }
}
