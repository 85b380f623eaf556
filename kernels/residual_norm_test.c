#include "kernels/residual_norm.h"

#include <criterion/criterion.h>
#include <string.h>

#include "common/testkit/fixture.h"

/* Residual and norm apart are held against double in residual_test.c and layernorm_test.c; here
   both together must give the same bits. */
static const Dropout masks[] = {{.seed = 5, .offset = 9}, {.p = 0.3f, .seed = 5, .offset = 11}};
enum { MASKS = sizeof masks / sizeof *masks };

/* C of 264: whole packs, and more than one for some lanes. */
static const int widths[] = {1, 31, 33, 257, 264};
enum { WIDTHS = sizeof widths / sizeof *widths };

typedef struct Sides {
    int N, C;
    size_t n;
    Dropout dropout;
    double *weight, *bias;
} Sides;

static Sides sides_new(Fixture *f, int s) {
    int N = awkward_size[s % AWKWARD_SIZES], C = widths[s / AWKWARD_SIZES % WIDTHS];
    return (Sides){.N = N,
                   .C = C,
                   .n = (size_t)N * (size_t)C,
                   .dropout = masks[s / AWKWARD_SIZES / WIDTHS],
                   .weight = fixture_random(f, (size_t)C, 1),
                   .bias = fixture_random(f, (size_t)C, 1)};
}

static void same_reals(Fixture *f, const char *name, const Real *a, const Real *b, size_t n) {
    cr_assert(memcmp(fixture_read_real(f, a, n), fixture_read_real(f, b, n), n * sizeof(float)) ==
                  0,
              "%s: %s differs", fixture_name(f), name);
}

static void same_floats(Fixture *f, const char *name, const float *a, const float *b, size_t n) {
    cr_assert(memcmp(fixture_read_float(f, a, n), fixture_read_float(f, b, n), n * sizeof(float)) ==
                  0,
              "%s: %s differs", fixture_name(f), name);
}

static void check_forward(Fixture *f, const Sides *c, bool in_place) {
    size_t n = c->n, N = (size_t)c->N, C = (size_t)c->C;
    double *stream = fixture_random(f, n, 1), *branch = fixture_random(f, n, 1);
    Real *from = fixture_real(f, stream, n), *weight = fixture_real(f, c->weight, C);
    Real *bias = fixture_real(f, c->bias, C);
    Real *sum = fixture_real(f, NULL, n), *out = fixture_real(f, NULL, n);
    float *mean = fixture_float(f, NULL, N), *rstd = fixture_float(f, NULL, N);
    f->ops->residual_forward(sum, from, fixture_real(f, branch, n), n, c->dropout);
    f->ops->layernorm_forward(out, mean, rstd, sum, weight, bias, c->N, c->C);

    Real *over = fixture_real(f, branch, n);
    Real *sum2 = in_place ? over : fixture_real(f, NULL, n), *out2 = fixture_real(f, NULL, n);
    float *mean2 = fixture_float(f, NULL, N), *rstd2 = fixture_float(f, NULL, N);
    f->ops->residual_norm_forward(sum2, out2, mean2, rstd2, from, over, weight, bias, c->N, c->C,
                                  c->dropout);
    same_reals(f, "sum", sum, sum2, n);
    same_reals(f, "out", out, out2, n);
    same_floats(f, "mean", mean, mean2, N);
    same_floats(f, "rstd", rstd, rstd2, N);
}

Test(residual_norm, forward_has_the_bits_of_both_ops) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < AWKWARD_SIZES * WIDTHS * MASKS; s++) {
            Sides c = sides_new(&f, s);
            check_forward(&f, &c, s % 2 != 0);
        }
    }
}

static void check_backward(Fixture *f, const Sides *c, bool in_place) {
    size_t n = c->n, N = (size_t)c->N, C = (size_t)c->C;
    double *dout = fixture_random(f, n, 1), *dsum = fixture_random(f, n, 1);
    double *dbranch = in_place ? fixture_zeros(f, n) : fixture_random(f, n, 1);
    double *dparam = fixture_random_float(f, C, 1), *row = fixture_random_float(f, N, 1);
    Real *sum = fixture_real(f, fixture_random(f, n, 1), n),
         *weight = fixture_real(f, c->weight, C);
    float *mean = fixture_float(f, row, N), *rstd = fixture_float(f, row, N);
    Real *stream = fixture_real(f, dsum, n), *branch = fixture_real(f, dbranch, n);
    float *dweight = fixture_float(f, dparam, C), *dbias = fixture_float(f, dparam, C);
    f->ops->layernorm_backward(stream, dweight, dbias, fixture_real(f, dout, n), sum, mean, rstd,
                               weight, c->N, c->C, &f->workspace);
    f->ops->residual_backward(NULL, branch, stream, n, c->dropout);

    Real *up = fixture_real(f, dout, n), *stream2 = fixture_real(f, dsum, n);
    Real *branch2 = in_place ? up : fixture_real(f, dbranch, n);
    float *dweight2 = fixture_float(f, dparam, C), *dbias2 = fixture_float(f, dparam, C);
    f->ops->residual_norm_backward(stream2, branch2, dweight2, dbias2, up, sum, mean, rstd, weight,
                                   c->N, c->C, c->dropout, &f->workspace);
    same_reals(f, "dsum", stream, stream2, n);
    same_reals(f, "dbranch", branch, branch2, n);
    same_floats(f, "dweight", dweight, dweight2, C);
    same_floats(f, "dbias", dbias, dbias2, C);
}

Test(residual_norm, backward_has_the_bits_of_both_ops) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < AWKWARD_SIZES * WIDTHS * MASKS; s++) {
            Sides c = sides_new(&f, s);
            check_backward(&f, &c, s % 2 != 0);
        }
    }
}

/* Where a captured step has them: the place in the stream is read when the op runs. */
Test(residual_norm, the_base_of_a_mask_is_added_to_its_offset) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        enum { n = 257 };
        double *values = fixture_random(&f, n, 1);
        Real *in = fixture_real(&f, values, n), *zero = fixture_real(&f, fixture_zeros(&f, n), n);
        Real *want = fixture_real(&f, NULL, n), *got = fixture_real(&f, NULL, n);
        Real *sum = fixture_real(&f, NULL, n);
        uint64_t *base = memory_alloc(f.memory, MEMORY_DATA, "base", -1, sizeof *base);
        device_upload(f.device, base, &(uint64_t){1000}, sizeof *base);
        Dropout plain = {.p = 0.3f, .seed = 5, .offset = 1007};
        Dropout based = {.p = 0.3f, .seed = 5, .offset = 7, .base = base};
        f.ops->dropout_forward(want, in, n, plain);
        f.ops->dropout_forward(got, in, n, based);
        f.ops->residual_forward(sum, zero, in, n, based);
        same_reals(&f, "dropout", want, got, n);
        same_reals(&f, "residual", want, sum, n);
    }
}
