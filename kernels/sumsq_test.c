#include "kernels/sumsq.h"

#include <criterion/criterion.h>
#include <math.h>

#include "grader/fixture.h"

static double sum_of_squares(const double *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i] * x[i];
    }
    return sum;
}

Test(sumsq, adds) {
    static const size_t sizes[] = {0, 1, 31, 33, 257, 70001, 1100003};
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < 7 * UPSTREAM_SCALES; s++) {
            size_t n = sizes[s / UPSTREAM_SCALES];
            double scale = upstream_scale[s % UPSTREAM_SCALES];
            double *x = fixture_random_float(&f, n, scale), want[] = {scale * scale};
            float *out = fixture_float(&f, want, 1);
            want[0] = (double)fixture_read_float(&f, out, 1)[0] + sum_of_squares(x, n);
            f.ops->sumsq(out, fixture_float(&f, x, n), n, &f.workspace);
            fixture_expect_float(&f, "out", out, want, 1, tolerance_of_op(F32, (int)n));
        }
    }
}

Test(sumsq, nan_and_infinity_are_data) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        double zero[] = {0}, nan[] = {1, (double)NAN}, infinity[] = {1, (double)-INFINITY};
        float *a = fixture_float(&f, zero, 1), *b = fixture_float(&f, zero, 1);
        f.ops->sumsq(a, fixture_float(&f, nan, 2), 2, &f.workspace);
        f.ops->sumsq(b, fixture_float(&f, infinity, 2), 2, &f.workspace);
        cr_assert(isnan((double)fixture_read_float(&f, a, 1)[0]));
        cr_assert(isinf((double)fixture_read_float(&f, b, 1)[0]));
    }
}
