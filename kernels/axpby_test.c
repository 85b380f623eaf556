#include "kernels/axpby.h"

#include <criterion/criterion.h>

#include "common/testkit/fixture.h"

static const size_t sizes[] = {1, 31, 33, 257, 3001};
/* A branch that is added, one that is scaled by what no binary fraction is, a copy. */
static const float factors[][2] = {{2, 1}, {0.3f, 1}, {0.7f, -1.1f}, {1, 0}};
enum { SIZES = sizeof sizes / sizeof *sizes, FACTORS = sizeof factors / sizeof *factors };

Test(axpby, sums) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < SIZES * FACTORS; s++) {
            size_t n = sizes[s % SIZES];
            const float *ab = factors[s / SIZES];
            double *x = fixture_random(&f, n, 1), *y = fixture_random(&f, n, 1);
            double *want = fixture_zeros(&f, n);
            for (size_t i = 0; i < n; i++) {
                want[i] = (double)ab[0] * x[i] + (double)ab[1] * y[i];
            }
            Real *to = fixture_real(&f, ab[1] == 0 ? NULL : y, n); /* NULL: NaN */
            f.ops->axpby(to, fixture_real(&f, x, n), n, ab[0], ab[1]);
            fixture_expect_real(&f, "y", to, want, n, tolerance_of_op(f.precision, 2));
        }
    }
}

Test(axpby, scales_in_place) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < SIZES; s++) {
            size_t n = sizes[s];
            double *x = fixture_random(&f, n, 1);
            Real *to = fixture_real(&f, x, n);
            for (size_t i = 0; i < n; i++) {
                x[i] *= (double)0.3f;
            }
            f.ops->axpby(to, to, n, 0.3f, 0);
            fixture_expect_real(&f, "y", to, x, n, tolerance_of_op(f.precision, 1));
        }
    }
}

/* A branch of zeros changes nothing: so a model with fresh adapters has the bits of the model. */
Test(axpby, nothing_added_leaves_the_bits) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        size_t n = 257;
        double *y = fixture_random(&f, n, 1);
        Real *to = fixture_real(&f, y, n);
        f.ops->axpby(to, fixture_real(&f, fixture_zeros(&f, n), n), n, 0.3f, 1);
        fixture_expect_real(&f, "y", to, y, n, (Tolerance){0, 0, 0});
    }
}
