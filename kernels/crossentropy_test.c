#include "kernels/crossentropy.h"

#include <criterion/criterion.h>
#include <math.h>

#include "common/testkit/fixture.h"
#include "common/testkit/reference.h"

typedef struct CrossentropyCase {
    int N, V, stride;
    size_t n;
    double *logits, *probs, *losses, *lse;
    int32_t *targets; /* host */
} CrossentropyCase;

/* Every third row is ignored; with `all` every row. */
static CrossentropyCase make(Fixture *f, int N, int V, double spread, bool all) {
    static int32_t targets[257];
    CrossentropyCase c = {
        .N = N, .V = V, .stride = logits_stride(V), .n = (size_t)N * V, .targets = targets};
    c.logits = fixture_random(f, c.n, spread);
    c.probs = fixture_zeros(f, c.n);
    c.losses = fixture_zeros(f, (size_t)N);
    c.lse = fixture_zeros(f, (size_t)N);
    for (int row = 0; row < N; row++) {
        bool ignored = all || row % 3 == 1;
        targets[row] = ignored ? IGNORE_INDEX : (int32_t)rng_below(&f->rng, (uint64_t)V);
    }
    reference_crossentropy_forward(c.losses, c.probs, c.logits, targets, N, V);
    for (int row = 0; row < N; row++) {
        c.lse[row] = c.logits[(size_t)row * V] - log(c.probs[(size_t)row * V]);
    }
    return c;
}

static void check(Fixture *f, const CrossentropyCase *c, double dloss, Tolerance tolerance) {
    Real *logits = fixture_rows(f, c->logits, c->N, c->V, c->stride);
    int32_t *targets = fixture_ids(f, c->targets, (size_t)c->N);
    float *losses = fixture_float(f, NULL, (size_t)c->N),
          *lse = fixture_float(f, NULL, (size_t)c->N);
    f->ops->crossentropy_forward(losses, lse, logits, targets, c->N, c->V, c->stride);
    fixture_expect_float(f, "losses", losses, c->losses, (size_t)c->N, tolerance_of_op(F32, c->V));
    fixture_expect_float(f, "lse", lse, c->lse, (size_t)c->N, tolerance_of_op(F32, c->V));

    double *fresh = fixture_zeros(f, c->n), *added = fixture_random(f, c->n, dloss);
    Real *dlogits = fixture_rows(f, added, c->N, c->V, c->stride);
    reference_crossentropy_backward(fresh, c->probs, c->targets, dloss, c->N, c->V);
    reference_crossentropy_backward(added, c->probs, c->targets, dloss, c->N, c->V);
    f->ops->crossentropy_backward(dlogits, logits, lse, targets, (float)dloss, c->N, c->V,
                                  c->stride);
    fixture_expect_rows(f, "dlogits", dlogits, added, c->N, c->V, c->stride, tolerance);
    f->ops->crossentropy_backward(logits, logits, lse, targets, (float)dloss, c->N, c->V,
                                  c->stride);
    fixture_expect_rows(f, "in place", logits, fresh, c->N, c->V, c->stride, tolerance);
}

Test(crossentropy, forward_and_backward) {
    static const int vocabularies[] = {2, 31, 33, 257, 1030};
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < 5 * AWKWARD_SIZES; s++) {
            CrossentropyCase c = make(&f, awkward_size[s % AWKWARD_SIZES],
                                      vocabularies[s / AWKWARD_SIZES], 2, false);
            check(&f, &c, upstream_scale[s % UPSTREAM_SCALES], tolerance_of_op(f.precision, c.V));
        }
    }
}

/* Strides that no model has: the least that V needs, and far more. */
Test(crossentropy, any_stride) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < 4; s++) {
            CrossentropyCase c = make(&f, 31, s < 2 ? 40 : 33, 2, false);
            c.stride = s % 2 ? 1000 : 40;
            check(&f, &c, 1, tolerance_of_op(f.precision, c.V));
        }
    }
}

Test(crossentropy, every_row_ignored) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        CrossentropyCase c = make(&f, 31, 33, 2, true);
        check(&f, &c, 1, tolerance_of_op(f.precision, c.V));
    }
}

/* Logits of some hundreds: exp overflows from 89 on unless the largest is taken off. */
Test(crossentropy, large_logits) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        CrossentropyCase c = make(&f, 31, 33, 300, false);
        for (int row = 0; row < c.N; row++) { /* probabilities underflow; take the largest */
            int best = 0;
            for (int v = 1; v < c.V; v++) {
                best = c.logits[row * c.V + v] > c.logits[row * c.V + best] ? v : best;
            }
            c.lse[row] = c.logits[row * c.V + best] - log(c.probs[row * c.V + best]);
        }
        /* lse is near 900: its rounding is a relative error of the probabilities. */
        check(&f, &c, 1e-3, tolerance_magnified(tolerance_of_op(f.precision, c.V), 900));
    }
}

Test(crossentropy, nan_is_data) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        double logits[] = {1, (double)NAN, 2, 1, 2, 3};
        int32_t targets[] = {0, 1};
        float *losses = fixture_float(&f, NULL, 2), *lse = fixture_float(&f, NULL, 2);
        f.ops->crossentropy_forward(losses, lse, fixture_rows(&f, logits, 2, 3, 8),
                                    fixture_ids(&f, targets, 2), 2, 3, 8);
        float *got = fixture_read_float(&f, losses, 2);
        cr_assert(isnan((double)got[0]) && isfinite((double)got[1]), "%g %g", (double)got[0],
                  (double)got[1]);
    }
}
