#include "kernels/sumsq.h"

#include <criterion/criterion.h>
#include <math.h>

#include "common/testkit/fixture.h"

static double sum_of_squares(const double *x, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        sum += x[i] * x[i];
    }
    return sum;
}

/* One number, none, whole blocks; together, and the large ones alone. */
static const size_t sizes[] = {1, 31, 0, 33, 256, 257, 70001, 1100003};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void check_sum(Fixture *f, int from, int count, double scale) {
    double want[] = {scale * scale};
    float *x[SIZES], *out = fixture_float(f, want, 1);
    want[0] = (double)fixture_read_float(f, out, 1)[0];
    for (int i = 0; i < count; i++) {
        double *values = fixture_random_float(f, sizes[from + i], scale);
        x[i] = fixture_float(f, values, sizes[from + i]);
        want[0] += sum_of_squares(values, sizes[from + i]);
    }
    f->ops->sumsq(out, fixture_list(f, x, sizes + from, NULL, count), &f->workspace);
    /* In double, and rounded once: as good as a float can be. */
    fixture_expect_float(f, "out", out, want, 1, tolerance_of_op(F32, 1));
}

Test(sumsq, adds) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < UPSTREAM_SCALES; s++) {
            for (int i = 0; i < SIZES; i++) {
                check_sum(&f, i, 1, upstream_scale[s]);
            }
            check_sum(&f, 0, SIZES - 1, upstream_scale[s]);
            check_sum(&f, 0, 0, upstream_scale[s]);
        }
    }
}

/* 256 numbers of a block and no others make its partial sum. */
Test(sumsq, leaves_a_partial_sum_of_each_block) {
    static const size_t n[] = {300, 1};
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        double zero = 0, *a = fixture_random_float(&f, n[0], 1), b = 3;
        float *x[] = {fixture_float(&f, a, n[0]), fixture_float(&f, &b, 1)};
        double want[] = {sum_of_squares(a, 256), sum_of_squares(a + 256, 44), 9}, got[3];
        f.ops->sumsq(fixture_float(&f, &zero, 1), fixture_list(&f, x, n, NULL, 2), &f.workspace);
        device_download(f.device, got, f.workspace.data, sizeof got);
        for (int i = 0; i < 3; i++) {
            cr_assert_float_eq(got[i], want[i], 1e-12 * want[i], "%s: block %d: %.17g, not %.17g",
                               fixture_name(&f), i, got[i], want[i]);
        }
    }
}

/* A list may be cut into shards between any two blocks. */
Test(sumsq, a_cut_at_a_block_changes_no_bit) {
    enum { N = 40000, CUT = 100 * TENSOR_BLOCK };
    static const size_t whole = N, parts[] = {CUT, 0, N - CUT};
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        double zero = 0;
        float *x = fixture_float(&f, fixture_random_float(&f, N, 1), N);
        float *cut[] = {x, x, x + CUT}, *a = fixture_float(&f, &zero, 1);
        float *b = fixture_float(&f, &zero, 1);
        f.ops->sumsq(a, fixture_list(&f, &x, &whole, NULL, 1), &f.workspace);
        f.ops->sumsq(b, fixture_list(&f, cut, parts, NULL, 3), &f.workspace);
        cr_assert_eq(fixture_read_float(&f, a, 1)[0], fixture_read_float(&f, b, 1)[0]);
    }
}

Test(sumsq, nan_and_infinity_are_data) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        double zero[] = {0}, nan[] = {1, (double)NAN}, infinity[] = {1, (double)-INFINITY};
        size_t n = 2;
        float *a = fixture_float(&f, zero, 1), *b = fixture_float(&f, zero, 1);
        float *x = fixture_float(&f, nan, n), *y = fixture_float(&f, infinity, n);
        f.ops->sumsq(a, fixture_list(&f, &x, &n, NULL, 1), &f.workspace);
        f.ops->sumsq(b, fixture_list(&f, &y, &n, NULL, 1), &f.workspace);
        cr_assert(isnan((double)fixture_read_float(&f, a, 1)[0]));
        cr_assert(isinf((double)fixture_read_float(&f, b, 1)[0]));
    }
}
