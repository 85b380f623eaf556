#include "kernels/attention.h"

#include <criterion/criterion.h>
#include <math.h>

#include "common/testkit/fixture.h"
#include "common/testkit/reference.h"
#include "kernels/flash.h"

typedef struct AttentionShape {
    int B, T, C, NH;
} AttentionShape;

/* One token; heads of 1, 11 and 31 numbers; T beyond one and beyond five panels of rows, and beyond
   one of keys; more sequences than the GPU takes at once. Heads of which tensor cores take 8, 24,
   64, 72 and 128 numbers. */
static const AttentionShape shapes[] = {{1, 1, 1, 1},     {2, 31, 33, 3},  {1, 33, 4, 4},
                                        {2, 65, 62, 2},   {1, 331, 12, 3}, {11, 5, 6, 2},
                                        {1, 130, 128, 1}, {2, 33, 24, 3},  {2, 70, 48, 2},
                                        {1, 129, 64, 1},  {1, 45, 72, 1}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

typedef struct AttentionCase {
    AttentionShape shape;
    size_t n, rows;
    double *qkv, *out, *probs;
} AttentionCase;

static AttentionCase make(Fixture *f, AttentionShape shape) {
    size_t n = (size_t)shape.B * shape.T * shape.C;
    size_t rows = (size_t)shape.B * shape.NH * shape.T;
    AttentionCase c = {shape,
                       n,
                       rows,
                       fixture_random(f, 3 * n, 1),
                       fixture_zeros(f, n),
                       fixture_zeros(f, rows * shape.T)};
    reference_attention_forward(c.out, c.probs, c.qkv, shape.B, shape.T, shape.C, shape.NH);
    return c;
}

/* The one number per row that flash attention keeps: the log of each row's sum of exponentials. */
static double *lse_of(Fixture *f, const AttentionCase *c) {
    double *lse = fixture_zeros(f, c->rows);
    int T = c->shape.T, C = c->shape.C, HS = C / c->shape.NH;
    for (size_t row = 0; row < c->rows; row++) {
        int t = (int)(row % T), h = (int)(row / T) % c->shape.NH, b = (int)(row / T) / c->shape.NH;
        /* From any visible key: lse = score - log(probability). The likeliest is exact enough. */
        int best = 0;
        for (int s = 1; s <= t; s++) {
            best = c->probs[row * T + s] > c->probs[row * T + best] ? s : best;
        }
        double score = 0;
        for (int i = 0; i < HS; i++) {
            score += c->qkv[(b * T + t) * 3 * C + h * HS + i] *
                     c->qkv[(b * T + best) * 3 * C + C + h * HS + i];
        }
        lse[row] = score / sqrt(HS) - log(c->probs[row * T + best]);
    }
    return lse;
}

Test(attention, forward) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < SHAPES; s++) {
            AttentionCase c = make(&f, shapes[s]);
            Real *out = fixture_real(&f, NULL, c.n);
            Real *probs = fixture_real(&f, NULL, c.rows * c.shape.T);
            f.ops->attention_forward(out, probs, fixture_real(&f, c.qkv, 3 * c.n), c.shape.B,
                                     c.shape.T, c.shape.C, c.shape.NH, &f.workspace);
            Tolerance tolerance = tolerance_of_op(f.precision, c.shape.T);
            fixture_expect_real(&f, "out", out, c.out, c.n, tolerance);
            fixture_expect_real(&f, "probs", probs, c.probs, c.rows * c.shape.T, tolerance);
        }
    }
}

static void check_flash_forward(Fixture *f, const AttentionCase *c) {
    Real *out = fixture_real(f, NULL, c->n);
    float *lse = fixture_float(f, NULL, c->rows);
    f->ops->flash_forward(out, lse, fixture_real(f, c->qkv, 3 * c->n), c->shape.B, c->shape.T,
                          c->shape.C, c->shape.NH, &f->workspace);
    fixture_expect_real(f, "out", out, c->out, c->n, tolerance_of_op(f->precision, c->shape.T));
    fixture_expect_float(f, "lse", lse, lse_of(f, c), c->rows, tolerance_of_op(F32, c->shape.T));
}

Test(flash, forward) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < SHAPES; s++) {
            AttentionCase c = make(&f, shapes[s]);
            check_flash_forward(&f, &c);
        }
    }
}

/* Scores grow along the keys, by some 20 in 32 of them: what was summed before must shrink. */
Test(flash, forward_of_growing_scores) {
    enum { T = 100, HS = 8 };
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        AttentionCase c = make(&f, (AttentionShape){1, T, HS, 1});
        for (int t = 0; t < T; t++) {
            c.qkv[t * 3 * HS] = 8;
            c.qkv[t * 3 * HS + HS] = t / 4.0;
        }
        reference_attention_forward(c.out, c.probs, c.qkv, 1, T, HS, 1);
        check_flash_forward(&f, &c);
    }
}

/* Both kinds, from the same upstream gradient, into memory that holds no number. */
static void check_backward(Fixture *f, const AttentionCase *c, double scale, bool flash) {
    const AttentionShape *shape = &c->shape;
    double *dout = fixture_random(f, c->n, scale), *want = fixture_zeros(f, 3 * c->n);
    Real *dqkv = fixture_real(f, NULL, 3 * c->n), *dout_real = fixture_real(f, dout, c->n);
    Real *qkv = fixture_real(f, c->qkv, 3 * c->n);
    reference_attention_backward(want, dout, c->probs, c->qkv, shape->B, shape->T, shape->C,
                                 shape->NH);
    if (flash) {
        f->ops->flash_backward(dqkv, dout_real, fixture_real(f, c->out, c->n),
                               fixture_float(f, lse_of(f, c), c->rows), qkv, shape->B, shape->T,
                               shape->C, shape->NH, &f->workspace);
    } else {
        f->ops->attention_backward(dqkv, dout_real, fixture_real(f, c->probs, c->rows * shape->T),
                                   qkv, shape->B, shape->T, shape->C, shape->NH, &f->workspace);
    }
    fixture_expect_real(f, flash ? "dqkv (flash)" : "dqkv", dqkv, want, 3 * c->n,
                        tolerance_of_op(f->precision, shape->T));
}

Test(attention, backward_writes) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < SHAPES * UPSTREAM_SCALES; s++) {
            AttentionCase c = make(&f, shapes[s / UPSTREAM_SCALES]);
            check_backward(&f, &c, upstream_scale[s % UPSTREAM_SCALES], false);
        }
    }
}

Test(flash, backward_writes) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < SHAPES * UPSTREAM_SCALES; s++) {
            AttentionCase c = make(&f, shapes[s / UPSTREAM_SCALES]);
            check_backward(&f, &c, upstream_scale[s % UPSTREAM_SCALES], true);
        }
    }
}

/* On the GPU workspace for one sequence is enough. */
Test(flash, backward_of_one_sequence_at_a_time) {
    AttentionShape shape = {3, 37, 32, 2};
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        if (!f.device->host_memory) {
            AttentionCase c = make(&f, shape);
            Workspace whole = f.workspace;
            f.workspace.bytes = flash_scratch_gpu(shape.T, shape.NH);
            check_backward(&f, &c, 1, true);
            f.workspace = whole;
        }
    }
}

/* Scores of some hundreds: exp overflows unless the row's largest is taken off first. A head of 8
   numbers, of which 7 are 0, goes to tensor cores. */
static void check_large_scores(Fixture *f, int HS) {
    static const double first[] = {400, 1, 2, -400, 3, 4, 0.5, 5, 6}; /* T = 3: q, k, v of each */
    enum { N = 9, LONGEST = 8 };
    double qkv[N * LONGEST] = {0}, out[3 * LONGEST], probs[N], rounded[N * LONGEST];
    for (int i = 0; i < N; i++) {
        qkv[i * HS] = first[i];
    }
    float *stored = fixture_read_real(f, fixture_real(f, qkv, (size_t)(N * HS)), (size_t)(N * HS));
    for (int i = 0; i < N * HS; i++) {
        rounded[i] = (double)stored[i];
    }
    reference_attention_forward(out, probs, rounded, 1, 3, HS, 1);
    size_t n = (size_t)(3 * HS);
    Real *given = fixture_real(f, qkv, 3 * n);
    Real *got = fixture_real(f, NULL, n), *p = fixture_real(f, NULL, N);
    f->ops->attention_forward(got, p, given, 1, 3, HS, 1, &f->workspace);
    fixture_expect_real(f, "out", got, out, n, tolerance_of_op(f->precision, 3));
    float *lse = fixture_float(f, NULL, 3);
    f->ops->flash_forward(got, lse, given, 1, 3, HS, 1, &f->workspace);
    fixture_expect_real(f, "out (flash)", got, out, n, tolerance_of_op(f->precision, 3));
}

Test(attention, large_scores) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        check_large_scores(&f, 1);
        check_large_scores(&f, 8);
    }
}

/* The readable kernel gives right numbers as well: that tensor cores are used must be asked. */
static bool on_tensor_cores(Fixture *f, int HS) {
    static flash_tensor_forward_fn *const forward[] = {
        flash_tensor_forward_gpu_f32, flash_tensor_forward_gpu_f16, flash_tensor_forward_gpu_bf16};
    static flash_tensor_backward_fn *const backward[] = {flash_tensor_backward_gpu_f32,
                                                         flash_tensor_backward_gpu_f16,
                                                         flash_tensor_backward_gpu_bf16};
    enum { T = 3 };
    size_t n = (size_t)(T * HS);
    Real *qkv = fixture_real(f, fixture_random(f, 3 * n, 1), 3 * n);
    Real *dout = fixture_real(f, fixture_random(f, n, 1), n), *out = fixture_real(f, NULL, n);
    Real *dqkv = fixture_real(f, NULL, 3 * n);
    float *lse = fixture_float(f, NULL, T);
    bool taken = forward[f->precision](out, lse, qkv, 1, T, HS, 1);
    bool too = backward[f->precision](dqkv, dout, out, lse, qkv, 1, T, HS, 1, &f->workspace);
    cr_assert_eq(too, taken);
    return taken;
}

Test(flash, tensor_cores_take_what_they_can) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        bool half = f.precision != F32;
        if (!f.device->host_memory) {
            for (int HS = 4; HS <= 136; HS += 4) {
                cr_assert_eq(on_tensor_cores(&f, HS), half && HS % 8 == 0 && HS <= 128,
                             "%s, heads of %d", precision_name(f.precision), HS);
            }
        }
    }
}
