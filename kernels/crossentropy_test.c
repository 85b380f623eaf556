#include "kernels/crossentropy.h"

#include <criterion/criterion.h>
#include <math.h>

#include "grader/fixture.h"
#include "grader/reference.h"

typedef struct Case {
    int N, V;
    size_t n;
    double *logits, *probs, *losses, *lse;
    int32_t *targets; /* host */
} Case;

/* Every third row is ignored; with `all` every row. */
static Case make(Fixture *f, int N, int V, double spread, bool all) {
    static int32_t targets[257];
    Case c = {.N = N, .V = V, .n = (size_t)N * V, .targets = targets};
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

static void check(Fixture *f, const Case *c, double dloss, Tolerance tolerance) {
    Real *logits = fixture_real(f, c->logits, c->n);
    int32_t *targets = fixture_ids(f, c->targets, (size_t)c->N);
    float *losses = fixture_float(f, NULL, (size_t)c->N),
          *lse = fixture_float(f, NULL, (size_t)c->N);
    f->ops->crossentropy_forward(losses, lse, logits, targets, c->N, c->V);
    fixture_expect_float(f, "losses", losses, c->losses, (size_t)c->N, tolerance_of_op(F32, c->V));
    fixture_expect_float(f, "lse", lse, c->lse, (size_t)c->N, tolerance_of_op(F32, c->V));

    double *fresh = fixture_zeros(f, c->n), *added = fixture_random(f, c->n, dloss);
    Real *dlogits = fixture_real(f, added, c->n);
    reference_crossentropy_backward(fresh, c->probs, c->targets, dloss, c->N, c->V);
    reference_crossentropy_backward(added, c->probs, c->targets, dloss, c->N, c->V);
    f->ops->crossentropy_backward(dlogits, logits, lse, targets, (float)dloss, c->N, c->V);
    fixture_expect_real(f, "dlogits", dlogits, added, c->n, tolerance);
    f->ops->crossentropy_backward(logits, logits, lse, targets, (float)dloss, c->N, c->V);
    fixture_expect_real(f, "in place", logits, fresh, c->n, tolerance);
}

Test(crossentropy, forward_and_backward) {
    static const int vocabularies[] = {2, 31, 33, 257, 1030};
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < 5 * AWKWARD_SIZES; s++) {
            Case c = make(&f, awkward_size[s % AWKWARD_SIZES], vocabularies[s / AWKWARD_SIZES], 2,
                          false);
            check(&f, &c, upstream_scale[s % UPSTREAM_SCALES], tolerance_of_op(f.precision, c.V));
        }
    }
}

Test(crossentropy, every_row_ignored) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        Case c = make(&f, 31, 33, 2, true);
        check(&f, &c, 1, tolerance_of_op(f.precision, c.V));
    }
}

/* Logits of some hundreds: exp overflows from 89 on unless the largest is taken off. */
Test(crossentropy, large_logits) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        Case c = make(&f, 31, 33, 300, false);
        for (int row = 0; row < c.N; row++) { /* probabilities underflow; take the largest */
            int best = 0;
            for (int v = 1; v < c.V; v++) {
                best = c.logits[row * c.V + v] > c.logits[row * c.V + best] ? v : best;
            }
            c.lse[row] = c.logits[row * c.V + best] - log(c.probs[row * c.V + best]);
        }
        /* lse is a float near 900, known to 3e-5: so are the probabilities, relatively. */
        Tolerance tolerance = tolerance_of_op(f.precision, c.V);
        tolerance.scaled += 1e-4;
        tolerance.norm += 1e-4;
        check(&f, &c, 1e-3, tolerance);
    }
}

Test(crossentropy, nan_is_data) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        double logits[] = {1, (double)NAN, 2, 1, 2, 3};
        int32_t targets[] = {0, 1};
        float *losses = fixture_float(&f, NULL, 2), *lse = fixture_float(&f, NULL, 2);
        f.ops->crossentropy_forward(losses, lse, fixture_real(&f, logits, 6),
                                    fixture_ids(&f, targets, 2), 2, 3);
        float *got = fixture_read_float(&f, losses, 2);
        cr_assert(isnan((double)got[0]) && isfinite((double)got[1]), "%g %g", (double)got[0],
                  (double)got[1]);
    }
}
