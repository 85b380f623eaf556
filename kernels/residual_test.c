#include "kernels/residual.h"

#include <criterion/criterion.h>

#include "common/testkit/fixture.h"
#include "common/testkit/reference.h"

static const size_t sizes[] = {1, 31, 33, 257, 3001};
static const Dropout dropouts[] = {{.seed = 5, .offset = 9}, {.p = 0.3f, .seed = 5, .offset = 11}};
enum { SIZES = sizeof sizes / sizeof *sizes, DROPOUTS = sizeof dropouts / sizeof *dropouts };

Test(residual, forward) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < SIZES * DROPOUTS; s++) {
            size_t n = sizes[s % SIZES];
            Dropout dropout = dropouts[s / SIZES];
            double *stream = fixture_random(&f, n, 1), *branch = fixture_random(&f, n, 1);
            double *want = fixture_zeros(&f, n);
            reference_dropout_factors(want, n, dropout);
            for (size_t i = 0; i < n; i++) {
                want[i] = stream[i] + want[i] * branch[i];
            }
            Real *a = fixture_real(&f, stream, n), *b = fixture_real(&f, branch, n);
            Real *out = fixture_real(&f, NULL, n);
            Tolerance tolerance = tolerance_of_op(f.precision, 1);
            f.ops->residual_forward(out, a, b, n, dropout);
            fixture_expect_real(&f, "out", out, want, n, tolerance);
            f.ops->residual_forward(b, a, b, n, dropout);
            fixture_expect_real(&f, "over the branch", b, want, n, tolerance);
            f.ops->residual_forward(a, a, fixture_real(&f, branch, n), n, dropout);
            fixture_expect_real(&f, "over the stream", a, want, n, tolerance);
        }
    }
}

Test(residual, backward_adds_to_both) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < SIZES * DROPOUTS * UPSTREAM_SCALES; s++) {
            size_t n = sizes[s % SIZES];
            Dropout dropout = dropouts[s / SIZES % DROPOUTS];
            double scale = upstream_scale[s / SIZES / DROPOUTS];
            double *dout = fixture_random(&f, n, scale), *dstream = fixture_random(&f, n, scale);
            double *dbranch = fixture_random(&f, n, scale), *factor = fixture_zeros(&f, n);
            Real *a = fixture_real(&f, dstream, n), *b = fixture_real(&f, dbranch, n);
            Real *alone = fixture_real(&f, dbranch, n);
            reference_dropout_factors(factor, n, dropout);
            for (size_t i = 0; i < n; i++) {
                dstream[i] += dout[i];
                dbranch[i] += factor[i] * dout[i];
            }
            Tolerance tolerance = tolerance_of_op(f.precision, 1);
            f.ops->residual_backward(a, b, fixture_real(&f, dout, n), n, dropout);
            fixture_expect_real(&f, "dstream", a, dstream, n, tolerance);
            fixture_expect_real(&f, "dbranch", b, dbranch, n, tolerance);
            f.ops->residual_backward(NULL, alone, fixture_real(&f, dout, n), n, dropout);
            fixture_expect_real(&f, "dbranch alone", alone, dbranch, n, tolerance);
        }
    }
}
