#include "kernels/matmul.h"

#include <criterion/criterion.h>

#include "common/testkit/fixture.h"
#include "common/testkit/reference.h"
#include "kernels/crossentropy.h"

typedef struct MatmulShape {
    int N, C, OC;
} MatmulShape;

/* Not square, no multiples of a tile, and beyond one panel and one slice in each direction. Of the
   last two the first turns the weight in its forward pass, the second dout for the weight's. */
static const MatmulShape shapes[] = {
    {1, 1, 1},        {1, 31, 33},    {33, 1, 31},     {31, 257, 1},   {33, 31, 257},
    {257, 33, 31},    {270, 530, 33}, {33, 60, 600},   {1100, 3, 37},  {140, 1024, 130},
    {140, 130, 1024}, {3, 5, 2100},   {300, 150, 140}, {70, 300, 800}, {131, 3080, 130}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* As a model's head: rows begin at multiples of 16 bytes, and end anywhere. */
static const MatmulShape heads[] = {{37, 64, 257}, {33, 16, 1031}, {65, 24, 9}, {16, 8, 7}};
enum { HEADS = sizeof heads / sizeof *heads };

static void check_forward(Fixture *f, MatmulShape shape, int padding, bool with_bias) {
    int N = shape.N, C = shape.C, OC = shape.OC, stride = OC + padding;
    size_t inputs = (size_t)N * C, weights = (size_t)OC * C;
    double *in = fixture_random(f, inputs, 1), *weight = fixture_random(f, weights, 1);
    double *bias = with_bias ? fixture_random(f, (size_t)OC, 1) : NULL;
    double *want = fixture_zeros(f, (size_t)N * OC);
    Real *out = fixture_rows(f, NULL, N, OC, stride);
    reference_matmul_forward(want, in, weight, bias, N, C, OC);
    f->ops->matmul_forward(out, fixture_real(f, in, inputs), fixture_real(f, weight, weights),
                           bias != NULL ? fixture_real(f, bias, (size_t)OC) : NULL, N, C, OC,
                           stride, &f->workspace);
    fixture_expect_rows(f, "out", out, want, N, OC, stride, tolerance_of_op(f->precision, C));
}

Test(matmul, forward) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < SHAPES; s++) {
            check_forward(&f, shapes[s], 0, true);
            check_forward(&f, shapes[s], 2 * s, false); /* without a bias rows may lie apart */
        }
    }
}

/* Onto gradients that hold something; where din is to be written, nothing that is a number. */
static void check_backward_of(Fixture *f, matmul_backward_fn *op, MatmulShape shape, int padding,
                              double scale, bool with_din, bool with_dweight, bool with_dbias) {
    bool writes = op == f->ops->matmul_backward_first;
    int N = shape.N, C = shape.C, OC = shape.OC, stride = OC + padding;
    size_t n = (size_t)N * OC, inputs = (size_t)N * C, weights = (size_t)OC * C;
    double *in = fixture_random(f, inputs, 1), *weight = fixture_random(f, weights, 1);
    double *dout = fixture_random(f, n, scale);
    double *din = writes ? fixture_zeros(f, inputs) : fixture_random(f, inputs, scale);
    double *dweight = fixture_random_float(f, weights, scale);
    double *dbias = fixture_random_float(f, (size_t)OC, scale);
    Real *din_got = with_din ? fixture_real(f, writes ? NULL : din, inputs) : NULL;
    float *dweight_got = with_dweight ? fixture_float(f, dweight, weights) : NULL;
    float *dbias_got = with_dbias ? fixture_float(f, dbias, (size_t)OC) : NULL;
    reference_matmul_backward(din, dweight, dbias, dout, in, weight, N, C, OC);
    op(din_got, dweight_got, dbias_got, fixture_rows(f, dout, N, OC, stride),
       fixture_real(f, in, inputs), fixture_real(f, weight, weights), N, C, OC, stride,
       &f->workspace);
    if (with_din) {
        fixture_expect_real(f, "din", din_got, din, inputs, tolerance_of_op(f->precision, OC));
    }
    if (with_dweight) {
        fixture_expect_float(f, "dweight", dweight_got, dweight, weights, tolerance_of_op(F32, N));
    }
    if (with_dbias) {
        fixture_expect_float(f, "dbias", dbias_got, dbias, (size_t)OC, tolerance_of_op(F32, N));
    }
}

static void check_backward(Fixture *f, MatmulShape shape, int padding, double scale, bool with_din,
                           bool with_dweight, bool with_dbias) {
    check_backward_of(f, f->ops->matmul_backward, shape, padding, scale, with_din, with_dweight,
                      with_dbias);
    check_backward_of(f, f->ops->matmul_backward_first, shape, padding, scale, with_din,
                      with_dweight, with_dbias);
}

Test(matmul, as_a_head) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < HEADS; s++) {
            int padding = logits_stride(heads[s].OC) - heads[s].OC;
            check_forward(&f, heads[s], padding, false);
            for (int scale = 0; scale < UPSTREAM_SCALES; scale++) {
                check_backward(&f, heads[s], padding, upstream_scale[scale], true, true, false);
            }
        }
    }
}

Test(matmul, backward_adds_or_writes) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < SHAPES * UPSTREAM_SCALES; s++) {
            int scale = s % UPSTREAM_SCALES, padding = scale > 0 ? s : 0;
            check_backward(&f, shapes[s / UPSTREAM_SCALES], padding, upstream_scale[scale], true,
                           true, true);
        }
    }
}

Test(matmul, backward_of_no_rows_adds_nothing) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        check_backward(&f, (MatmulShape){0, 33, 31}, 0, 1, true, true, true);
    }
}

Test(matmul, backward_leaves_out_what_is_null) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int which = 0; which < 8; which++) {
            check_backward(&f, shapes[4], 0, 1, which & 1, which & 2, which & 4);
        }
    }
}
