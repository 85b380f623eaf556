#include "kernels/cast.h"

#include <criterion/criterion.h>
#include <math.h>

#include "common/testkit/fixture.h"
#include "kernels/half.h"

/* Exactly what the scalar conversion gives, vector loop and tail alike. */
Test(cast, from_float_rounds) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < AWKWARD_SIZES; s++) {
            size_t n = (size_t)awkward_size[s];
            double *in = fixture_random_float(&f, n, s == 1 ? 1e-6 : s == 2 ? 3e4 : 1);
            double *want = fixture_zeros(&f, n);
            for (size_t i = 0; i < n; i++) {
                want[i] = (double)precision_round(f.precision, (float)in[i]);
            }
            Real *out = fixture_real(&f, NULL, n);
            f.ops->cast_from_float(out, fixture_float(&f, in, n), n);
            float *got = fixture_read_real(&f, out, n);
            for (size_t i = 0; i < n; i++) {
                cr_assert_eq(float_bits(got[i]), float_bits((float)want[i]), "%s[%zu]",
                             fixture_name(&f), i);
            }
        }
    }
}

Test(cast, to_float_is_exact) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < AWKWARD_SIZES; s++) {
            size_t n = (size_t)awkward_size[s];
            double *in = fixture_random(&f, n, 1);
            float *out = fixture_float(&f, NULL, n);
            f.ops->cast_to_float(out, fixture_real(&f, in, n), n);
            fixture_expect_float(&f, "out", out, in, n, (Tolerance){0, 0, 0});
        }
    }
}

Test(cast, overflow_and_nan) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        double in[] = {70000, (double)-INFINITY, (double)NAN, 1e-8};
        Real *out = fixture_real(&f, NULL, 4);
        f.ops->cast_from_float(out, fixture_float(&f, in, 4), 4);
        float *got = fixture_read_real(&f, out, 4);
        cr_assert(f.precision == F16 ? isinf((double)got[0]) : isfinite((double)got[0]));
        cr_assert(isinf((double)got[1]) && isnan((double)got[2]));
        cr_assert(f.precision == F16 ? got[3] == 0 : got[3] > 0);
    }
}
