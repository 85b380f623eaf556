#include "kernels/unscale.h"

#include <criterion/criterion.h>
#include <math.h>

#include "common/testkit/fixture.h"
#include "kernels/half.h"

static const size_t sizes[] = {0, 1, 31, 33, 257, 70001};
enum { SIZES = 6 };

static float found_after(Fixture *f, const double *grad, size_t n, double before) {
    float *found = fixture_float(f, &before, 1);
    f->ops->unscale(fixture_float(f, grad, n), n, 0.5f, found);
    return fixture_read_float(f, found, 1)[0];
}

Test(unscale, multiplies_exactly) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < SIZES; s++) {
            size_t n = sizes[s];
            double *grad = fixture_random_float(&f, n, 1000), *want = fixture_zeros(&f, n);
            double zero = 0;
            for (size_t i = 0; i < n; i++) {
                want[i] = grad[i] * 0x1p-10;
            }
            float *tensor = fixture_float(&f, grad, n), *found = fixture_float(&f, &zero, 1);
            f.ops->unscale(tensor, n, 0x1p-10f, found);
            fixture_expect_float(&f, "grad", tensor, want, n, (Tolerance){0, 0, 0});
            cr_assert_eq(fixture_read_float(&f, found, 1)[0], 0.0f, "%s", fixture_name(&f));
        }
    }
}

/* One bad number, wherever it stands: the first, the last, in the tail after the vectors. */
Test(unscale, finds_every_bad_number) {
    static const size_t n = 1031;
    static const size_t places[] = {0, 1, 3, 4, 31, 32, 255, 256, 1023, 1024, 1028, 1029, 1030};
    const double bad[] = {(double)INFINITY, (double)-INFINITY, (double)NAN};
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        double *grad = fixture_random_float(&f, n, 1);
        for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
            double kept = grad[places[p]];
            for (int kind = 0; kind < 3; kind++) {
                grad[places[p]] = bad[kind];
                cr_assert_eq(found_after(&f, grad, n, 0), 1.0f, "%s: %g at %zu", fixture_name(&f),
                             bad[kind], places[p]);
            }
            grad[places[p]] = kept;
        }
    }
}

Test(unscale, is_a_chain) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        double good[] = {1, 2, 3}, large[] = {(double)3.4e38f, (double)-3.4e38f, 1e-45};
        cr_assert_eq(found_after(&f, good, 3, 1), 1.0f); /* what an earlier call has found stays */
        cr_assert_eq(found_after(&f, good, 0, 1), 1.0f);
        cr_assert_eq(found_after(&f, large, 3, 0), 0.0f); /* large, and its square too large */
    }
}

Test(unscale, what_is_not_finite_stays_that) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        double bad[] = {(double)INFINITY, (double)-INFINITY, (double)NAN, 8}, zero = 0;
        float *tensor = fixture_float(&f, bad, 4);
        f.ops->unscale(tensor, 4, 0x1p-16f, fixture_float(&f, &zero, 1));
        const float *got = fixture_read_float(&f, tensor, 4);
        cr_assert_eq(got[0], INFINITY);
        cr_assert_eq(got[1], -INFINITY);
        cr_assert(isnan(got[2]));
        cr_assert_eq(got[3], 0x1p-13f);
    }
}
