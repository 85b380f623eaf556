#include "kernels/layernorm.h"

#include <criterion/criterion.h>
#include <math.h>

#include "common/testkit/fixture.h"
#include "common/testkit/reference.h"

typedef struct LayernormCase {
    int N, C;
    double *in, *weight, *bias, *out, *mean, *rstd;
} LayernormCase;

static LayernormCase make(Fixture *f, int N, int C, double offset) {
    size_t n = (size_t)N * C;
    LayernormCase c = {.N = N,
                       .C = C,
                       .in = fixture_random(f, n, 1),
                       .weight = fixture_random(f, (size_t)C, 1),
                       .bias = fixture_random(f, (size_t)C, 1),
                       .out = fixture_zeros(f, n),
                       .mean = fixture_zeros(f, (size_t)N),
                       .rstd = fixture_zeros(f, (size_t)N)};
    for (size_t i = 0; i < n; i++) {
        c.in[i] += offset;
    }
    reference_layernorm_forward(c.out, c.mean, c.rstd, c.in, c.weight, c.bias, N, C);
    return c;
}

static void check_forward(Fixture *f, const LayernormCase *c, Tolerance tolerance,
                          Tolerance statistics) {
    size_t n = (size_t)c->N * c->C;
    Real *out = fixture_real(f, NULL, n);
    float *mean = fixture_float(f, NULL, (size_t)c->N),
          *rstd = fixture_float(f, NULL, (size_t)c->N);
    f->ops->layernorm_forward(out, mean, rstd, fixture_real(f, c->in, n),
                              fixture_real(f, c->weight, (size_t)c->C),
                              fixture_real(f, c->bias, (size_t)c->C), c->N, c->C);
    fixture_expect_real(f, "out", out, c->out, n, tolerance);
    fixture_expect_float(f, "mean", mean, c->mean, (size_t)c->N, statistics);
    fixture_expect_float(f, "rstd", rstd, c->rstd, (size_t)c->N, statistics);
}

Test(layernorm, forward) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < AWKWARD_SIZES * AWKWARD_SIZES; s++) {
            LayernormCase c =
                make(&f, awkward_size[s % AWKWARD_SIZES], awkward_size[s / AWKWARD_SIZES], 0);
            check_forward(&f, &c, tolerance_of_op(f.precision, c.C), tolerance_of_op(F32, c.C));
        }
    }
}

/* E[x^2] - E[x]^2 has no correct digit left here; the two-pass form has. */
Test(layernorm, forward_with_a_large_mean) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        if (f.precision == F32) {
            LayernormCase c = make(&f, 3, 257, 4096);
            /* The sum passes 2^20: 257 roundings of it leave the mean off by 4e-3 of the deviation,
               and the variance by the square of that. */
            double off = 4096 * sqrt(257) * 0x1p-24;
            Tolerance tolerance = tolerance_of_op(F32, c.C);
            check_forward(&f, &c, tolerance_magnified(tolerance, off / 0x1p-23),
                          tolerance_magnified(tolerance, off * off / 2 / 0x1p-23));
        }
    }
}

Test(layernorm, backward_adds) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < AWKWARD_SIZES * AWKWARD_SIZES * UPSTREAM_SCALES; s++) {
            double scale = upstream_scale[s % UPSTREAM_SCALES];
            int N = awkward_size[s / UPSTREAM_SCALES % AWKWARD_SIZES];
            int C = awkward_size[s / UPSTREAM_SCALES / AWKWARD_SIZES];
            LayernormCase c = make(&f, N, C, 0);
            size_t n = (size_t)N * C;
            double *dout = fixture_random(&f, n, scale), *din = fixture_random(&f, n, scale);
            double *dweight = fixture_random_float(&f, (size_t)C, scale);
            double *dbias = fixture_random_float(&f, (size_t)C, scale);
            Real *din_got = fixture_real(&f, din, n);
            float *dweight_got = fixture_float(&f, dweight, (size_t)C);
            float *dbias_got = fixture_float(&f, dbias, (size_t)C);
            reference_layernorm_backward(din, dweight, dbias, dout, c.in, c.mean, c.rstd, c.weight,
                                         N, C);
            f.ops->layernorm_backward(din_got, dweight_got, dbias_got, fixture_real(&f, dout, n),
                                      fixture_real(&f, c.in, n),
                                      fixture_float(&f, c.mean, (size_t)N),
                                      fixture_float(&f, c.rstd, (size_t)N),
                                      fixture_real(&f, c.weight, (size_t)C), N, C, &f.workspace);
            Tolerance tolerance = tolerance_of_op(f.precision, C);
            if (C == 1) { /* no variance: rstd is 316, by which the rounding of 0 is multiplied */
                tolerance = tolerance_magnified(tolerance, 316);
            }
            fixture_expect_real(&f, "din", din_got, din, n, tolerance);
            fixture_expect_float(&f, "dweight", dweight_got, dweight, (size_t)C,
                                 tolerance_of_op(F32, N));
            fixture_expect_float(&f, "dbias", dbias_got, dbias, (size_t)C, tolerance_of_op(F32, N));
        }
    }
}
