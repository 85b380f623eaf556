#include "kernels/embedding.h"

#include <criterion/criterion.h>

#include "common/testkit/fixture.h"
#include "common/testkit/reference.h"

/* How the ids of a test are drawn. */
typedef enum TokenDraw {
    RANDOM,   /* below V: where V is small, many rows add into the same one */
    SAME,     /* one id everywhere */
    DISTINCT, /* each id once: V is B * T or more */
    ABSENT,   /* as RANDOM, and every third is negative: its row is of no token */
} TokenDraw;

static void draw_ids(Fixture *f, int32_t *ids, int N, int V, TokenDraw draw) {
    for (int i = 0; i < N; i++) {
        int32_t id = (int32_t)rng_below(&f->rng, (uint64_t)V);
        ids[i] = draw == SAME ? V / 2 : draw == DISTINCT ? V - 1 - i : id;
        if (draw == ABSENT && i % 3 == 0) {
            ids[i] = -1 - id;
        }
    }
}

static void check(Fixture *f, int B, int T, int C, int V, TokenDraw draw, double scale) {
    size_t n = (size_t)B * T * C, rows = (size_t)V * C, positions = (size_t)(T + 2) * C;
    int32_t host[257 * 3];
    draw_ids(f, host, B * T, V, draw);
    int32_t *tokens = fixture_ids(f, host, (size_t)B * T);
    double *wte = fixture_random(f, rows, 1), *wpe = fixture_random(f, positions, 1);
    double *want = fixture_zeros(f, n), *dout = fixture_random(f, n, scale);
    double *dwte = fixture_random_float(f, rows, scale);
    double *dwpe = fixture_random_float(f, positions, scale);
    Real *out = fixture_real(f, NULL, n);
    float *dwte_got = fixture_float(f, dwte, rows), *dwpe_got = fixture_float(f, dwpe, positions);
    reference_embedding_forward(want, host, wte, wpe, B, T, C);
    reference_embedding_backward(dwte, dwpe, dout, host, B, T, C);
    f->ops->embedding_forward(out, tokens, fixture_real(f, wte, rows),
                              fixture_real(f, wpe, positions), B, T, C);
    f->ops->embedding_backward(dwte_got, dwpe_got, fixture_real(f, dout, n), tokens, B, T, C, V,
                               &f->workspace);
    fixture_expect_real(f, "out", out, want, n, tolerance_of_op(f->precision, 1));
    fixture_expect_float(f, "dwte", dwte_got, dwte, rows, tolerance_of_op(F32, B * T));
    /* Rows from T on belong to no position of this batch: they keep their values. */
    fixture_expect_float(f, "dwpe", dwpe_got, dwpe, positions, tolerance_of_op(F32, B));
}

Test(embedding, forward_and_backward) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < AWKWARD_SIZES * AWKWARD_SIZES; s++) {
            int T = awkward_size[s % AWKWARD_SIZES], C = awkward_size[s / AWKWARD_SIZES];
            check(&f, 3, T, C, 7, RANDOM, upstream_scale[s % UPSTREAM_SCALES]);
            check(&f, 1, T, C, 300, RANDOM, upstream_scale[s % UPSTREAM_SCALES]);
        }
    }
}

/* Rows wider than what one block adds, with and without whole packs of 16 bytes. */
Test(embedding, many_repeats) {
    static const int widths[] = {520, 131};
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < 2; s++) {
            check(&f, 3, 257, widths[s], 1, RANDOM, 1);
            check(&f, 3, 257, widths[s], 5, RANDOM, 1e-3);
            check(&f, 3, 257, widths[s], 9, ABSENT, 1);
            check(&f, 2, 300, widths[s], 601, DISTINCT, 1);
            check(&f, 3, 257, widths[s], 2, SAME, 1);
        }
    }
}
