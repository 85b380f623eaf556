#include "kernels/scale.h"

#include <criterion/criterion.h>
#include <math.h>

#include "grader/fixture.h"

Test(scale, multiplies) {
    static const double factors[] = {0, 1, -0.3, 1.0 / 65536};
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < 4 * AWKWARD_SIZES; s++) {
            size_t n = (size_t)awkward_size[s % AWKWARD_SIZES];
            double factor = (double)(float)factors[s / AWKWARD_SIZES];
            double *want = fixture_random_float(&f, n, 1);
            float *x = fixture_float(&f, want, n);
            for (size_t i = 0; i < n; i++) {
                want[i] = (double)(float)(want[i] * factor);
            }
            f.ops->scale(x, n, (float)factor);
            /* One product, rounded once: exactly this float. */
            fixture_expect_float(&f, "x", x, want, n, (Tolerance){0, 0, 0});
        }
    }
}

Test(scale, nan_and_infinity_are_data) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        double values[] = {(double)NAN, (double)INFINITY, 1};
        float *x = fixture_float(&f, values, 3);
        f.ops->scale(x, 3, 0);
        float *got = fixture_read_float(&f, x, 3);
        cr_assert(isnan((double)got[0]) && isnan((double)got[1]) && got[2] == 0);
    }
}
