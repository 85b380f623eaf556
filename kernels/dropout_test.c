#include "kernels/dropout.h"

#include <criterion/criterion.h>
#include <math.h>

#include "common/testkit/fixture.h"
#include "common/testkit/reference.h"

/* Beyond one run of masks; the offset is one that does not fit into 32 bits. */
static const size_t sizes[] = {1, 31, 33, 257, 3001};
static const Dropout dropouts[] = {{.seed = 5, .offset = 9},
                                   {.p = 0.3f, .seed = 5, .offset = 9},
                                   {.p = 0.9f, .seed = 1ull << 40, .offset = (1ull << 33) + 7}};
enum { SIZES = sizeof sizes / sizeof *sizes, DROPOUTS = sizeof dropouts / sizeof *dropouts };

Test(dropout, forward_draws_the_defined_mask) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < SIZES * DROPOUTS; s++) {
            size_t n = sizes[s % SIZES];
            double *in = fixture_random(&f, n, 1), *want = fixture_zeros(&f, n);
            reference_dropout_factors(want, n, dropouts[s / SIZES]);
            for (size_t i = 0; i < n; i++) {
                want[i] *= in[i];
            }
            Real *out = fixture_real(&f, NULL, n), *x = fixture_real(&f, in, n);
            f.ops->dropout_forward(out, x, n, dropouts[s / SIZES]);
            fixture_expect_real(&f, "out", out, want, n, tolerance_of_op(f.precision, 1));
            f.ops->dropout_forward(x, x, n, dropouts[s / SIZES]);
            fixture_expect_real(&f, "in place", x, want, n, tolerance_of_op(f.precision, 1));
        }
    }
}

Test(dropout, backward_adds_or_replaces) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < SIZES * DROPOUTS * UPSTREAM_SCALES; s++) {
            size_t n = sizes[s % SIZES];
            Dropout dropout = dropouts[s / SIZES % DROPOUTS];
            double scale = upstream_scale[s / SIZES / DROPOUTS];
            double *dout = fixture_random(&f, n, scale), *before = fixture_random(&f, n, scale);
            double *masked = fixture_zeros(&f, n), *sum = fixture_zeros(&f, n);
            reference_dropout_factors(masked, n, dropout);
            for (size_t i = 0; i < n; i++) {
                masked[i] *= dout[i];
                sum[i] = before[i] + masked[i];
            }
            Real *din = fixture_real(&f, before, n), *d = fixture_real(&f, dout, n);
            f.ops->dropout_backward(din, d, n, dropout);
            fixture_expect_real(&f, "din", din, sum, n, tolerance_of_op(f.precision, 1));
            f.ops->dropout_backward(d, d, n, dropout);
            fixture_expect_real(&f, "in place", d, masked, n, tolerance_of_op(f.precision, 1));
        }
    }
}

Test(dropout, share_of_zeros) {
    double factor[20000];
    int zeros = 0;
    reference_dropout_factors(factor, 20000, (Dropout){.p = 0.25f, .seed = 3});
    for (int i = 0; i < 20000; i++) {
        zeros += factor[i] == 0;
    }
    /* 5000 expected, standard deviation 61. */
    cr_assert(abs(zeros - 5000) < 300, "%d", zeros);
}

Test(dropout, counters) {
    cr_assert_eq(dropout_counters(0), 0);
    cr_assert_eq(dropout_counters(1), 1);
    cr_assert_eq(dropout_counters(4), 1);
    cr_assert_eq(dropout_counters(5), 2);
}

/* A dropped element takes no part, even where it is NaN. */
Test(dropout, drops_nan) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        double in[64], factor[64];
        reference_dropout_factors(factor, 64, dropouts[1]);
        for (int i = 0; i < 64; i++) {
            in[i] = (double)NAN;
        }
        Real *x = fixture_real(&f, in, 64);
        f.ops->dropout_forward(x, x, 64, dropouts[1]);
        float *got = fixture_read_real(&f, x, 64);
        for (int i = 0; i < 64; i++) {
            cr_assert(factor[i] > 0 ? isnan((double)got[i]) : got[i] == 0, "[%d] = %g", i,
                      (double)got[i]);
        }
    }
}
