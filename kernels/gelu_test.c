#include "kernels/gelu.h"

#include <criterion/criterion.h>
#include <math.h>

#include "common/testkit/fixture.h"
#include "common/testkit/reference.h"

/* The input with its bias, as storage rounds it. */
static double *biased(Fixture *f, const double *in, const double *bias, int N, int C) {
    double *sum = fixture_zeros(f, (size_t)N * C);
    for (int i = 0; i < N * C; i++) {
        sum[i] = in[i] + bias[i % C];
    }
    float *rounded = fixture_read_real(f, fixture_real(f, sum, (size_t)N * C), (size_t)N * C);
    for (int i = 0; i < N * C; i++) {
        sum[i] = (double)rounded[i];
    }
    return sum;
}

Test(gelu, forward_adds_the_bias) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < AWKWARD_SIZES; s++) {
            int N = 5, C = awkward_size[s];
            size_t n = (size_t)N * C;
            double *in = fixture_random(&f, n, 2), *bias = fixture_random(&f, (size_t)C, 1);
            double *sum = biased(&f, in, bias, N, C), *want = fixture_zeros(&f, n);
            reference_gelu_forward(want, sum, n);
            Real *x = fixture_real(&f, in, n), *out = fixture_real(&f, NULL, n);
            f.ops->gelu_forward(out, x, fixture_real(&f, bias, (size_t)C), N, C);
            fixture_expect_real(&f, "in", x, sum, n, tolerance_of_op(f.precision, 1));
            fixture_expect_real(&f, "out", out, want, n, tolerance_of_op(f.precision, 1));
        }
    }
}

Test(gelu, forward_without_bias_only_reads) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        size_t n = 33;
        double *in = fixture_random(&f, n, 2), *want = fixture_zeros(&f, n);
        reference_gelu_forward(want, in, n);
        Real *x = fixture_real(&f, in, n), *out = fixture_real(&f, NULL, n);
        f.ops->gelu_forward(out, x, NULL, 3, 11);
        fixture_expect_real(&f, "out", out, want, n, tolerance_of_op(f.precision, 1));
        fixture_expect_real(&f, "in", x, in, n, (Tolerance){0, 0, 0});
    }
}

Test(gelu, backward_adds) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < AWKWARD_SIZES * UPSTREAM_SCALES; s++) {
            int N = 3, C = awkward_size[s / UPSTREAM_SCALES];
            size_t n = (size_t)N * C;
            double scale = upstream_scale[s % UPSTREAM_SCALES];
            double *in = fixture_random(&f, n, 2), *dout = fixture_random(&f, n, scale);
            double *want = fixture_random(&f, n, scale);
            Real *din = fixture_real(&f, want, n);
            reference_gelu_backward(want, dout, in, n);
            f.ops->gelu_backward(din, fixture_real(&f, dout, n), fixture_real(&f, in, n), N, C);
            fixture_expect_real(&f, "din", din, want, n, tolerance_of_op(f.precision, 1));
        }
    }
}

Test(gelu, backward_in_place_replaces) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        size_t n = 257;
        double *in = fixture_random(&f, n, 2), *dout = fixture_random(&f, n, 1e-3);
        double *want = fixture_zeros(&f, n);
        reference_gelu_backward(want, dout, in, n);
        Real *d = fixture_real(&f, dout, n);
        f.ops->gelu_backward(d, d, fixture_real(&f, in, n), 1, 257);
        fixture_expect_real(&f, "din", d, want, n, tolerance_of_op(f.precision, 1));
    }
}

/* Far out, gelu(x) is x or 0 and its slope 1 or 0; nothing overflows on the way. */
Test(gelu, large_inputs) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        double in[] = {60, -60, 30000, -30000, 0, -0.0}, want[] = {60, 0, 30000, 0, 0, 0};
        double slope[] = {1, 0, 1, 0, 0.5, 0.5}, ones[] = {1, 1, 1, 1, 1, 1};
        Real *x = fixture_real(&f, in, 6), *out = fixture_real(&f, NULL, 6);
        Real *din = fixture_real(&f, fixture_zeros(&f, 6), 6);
        f.ops->gelu_forward(out, x, NULL, 1, 6);
        f.ops->gelu_backward(din, fixture_real(&f, ones, 6), x, 1, 6);
        fixture_expect_real(&f, "out", out, want, 6, tolerance_of_op(f.precision, 1));
        fixture_expect_real(&f, "din", din, slope, 6, tolerance_of_op(f.precision, 1));
    }
}

Test(gelu, nan_and_infinity_are_data) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        double in[] = {(double)NAN, 1, (double)INFINITY};
        Real *out = fixture_real(&f, NULL, 3);
        f.ops->gelu_forward(out, fixture_real(&f, in, 3), NULL, 1, 3);
        float *got = fixture_read_real(&f, out, 3);
        cr_assert(isnan((double)got[0]) && isfinite((double)got[1]) && isinf((double)got[2]),
                  "%g %g %g", (double)got[0], (double)got[1], (double)got[2]);
    }
}
