#include "kernels/vocab.h"

#include <criterion/criterion.h>
#include <math.h>

#include "common/testkit/fixture.h"
#include "common/testkit/reference.h"
#include "kernels/crossentropy.h"

/* A vocabulary in ranges, as ranks would have them; every third row is ignored. */
enum { MOST_ROWS = 257 };

typedef struct VocabWhole {
    int N, V;
    size_t n;
    double *logits, *probs, *losses, *dlogits;
    int32_t targets[MOST_ROWS];
} VocabWhole;

static VocabWhole make(Fixture *f, int N, int V, double spread, double dloss) {
    VocabWhole w = {.N = N, .V = V, .n = (size_t)N * (size_t)V};
    w.logits = fixture_random(f, w.n, spread);
    w.probs = fixture_zeros(f, w.n);
    w.losses = fixture_zeros(f, (size_t)N);
    w.dlogits = fixture_zeros(f, w.n);
    for (int row = 0; row < N; row++) {
        w.targets[row] = row % 3 == 1 ? IGNORE_INDEX : (int32_t)rng_below(&f->rng, (uint64_t)V);
    }
    reference_crossentropy_forward(w.losses, w.probs, w.logits, w.targets, N, V);
    reference_crossentropy_backward(w.dlogits, w.probs, w.targets, dloss, N, V);
    return w;
}

/* Columns first ... first + count - 1 of (N, V) numbers. */
static double *columns(Fixture *f, const double *from, const VocabWhole *w, int first, int count) {
    double *to = fixture_zeros(f, (size_t)w->N * (size_t)count);
    for (int row = 0; row < w->N; row++) {
        for (int v = 0; v < count; v++) {
            to[row * count + v] = from[(size_t)row * (size_t)w->V + (size_t)(first + v)];
        }
    }
    return to;
}

enum { RANGES = 3 };

typedef struct VocabRange {
    int first, V, stride;
    Real *logits;
    int32_t *targets;
} VocabRange;

static VocabRange range_of(Fixture *f, const VocabWhole *w, int which) {
    VocabRange r = {.first = w->V * which / RANGES};
    r.V = w->V * (which + 1) / RANGES - r.first;
    r.stride = logits_stride(r.V);
    r.logits = fixture_rows(f, columns(f, w->logits, w, r.first, r.V), w->N, r.V, r.stride);
    r.targets = fixture_ids(f, w->targets, (size_t)w->N);
    f->ops->vocab_ids(r.targets, r.targets, r.first, r.V, w->N);
    return r;
}

/* In place of an all-reduce: of the maxima the largest, of sums and logits the sum. */
static void check(Fixture *f, const VocabWhole *w, double dloss, Tolerance tolerance) {
    size_t N = (size_t)w->N;
    VocabRange range[RANGES];
    double *max = fixture_zeros(f, N), *sum = fixture_zeros(f, N), *at = fixture_zeros(f, N);
    for (size_t row = 0; row < N; row++) {
        max[row] = -(double)INFINITY;
    }
    for (int i = 0; i < RANGES; i++) {
        range[i] = range_of(f, w, i);
        float *most = fixture_float(f, NULL, N);
        f->ops->vocab_max(most, range[i].logits, w->N, range[i].V, range[i].stride);
        const float *got = fixture_read_float(f, most, N);
        for (size_t row = 0; row < N; row++) {
            max[row] = fmax(max[row], (double)got[row]);
        }
    }
    float *all_max = fixture_float(f, max, N);
    for (int i = 0; i < RANGES; i++) {
        float *part = fixture_float(f, NULL, N), *logit = fixture_float(f, NULL, N);
        f->ops->vocab_sum(part, logit, range[i].logits, all_max, range[i].targets, w->N, range[i].V,
                          range[i].stride);
        const float *a = fixture_read_float(f, part, N), *b = fixture_read_float(f, logit, N);
        for (size_t row = 0; row < N; row++) {
            sum[row] += (double)a[row];
            at[row] += (double)b[row];
        }
    }
    float *losses = fixture_float(f, NULL, N), *lse = fixture_float(f, NULL, N);
    f->ops->vocab_loss(losses, lse, all_max, fixture_float(f, sum, N), fixture_float(f, at, N),
                       range[0].targets, w->N);
    fixture_expect_float(f, "losses", losses, w->losses, N, tolerance_of_op(F32, w->V));
    for (int i = 0; i < RANGES; i++) {
        f->ops->vocab_backward(range[i].logits, lse, range[i].targets, (float)dloss, w->N,
                               range[i].V, range[i].stride);
        fixture_expect_rows(f, "dlogits", range[i].logits,
                            columns(f, w->dlogits, w, range[i].first, range[i].V), w->N, range[i].V,
                            range[i].stride, tolerance);
    }
}

Test(vocab, ranges_give_the_loss_and_the_gradient_of_the_whole) {
    static const int vocabularies[] = {3, 31, 257, 1030};
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        for (int s = 0; s < 4 * AWKWARD_SIZES; s++) {
            double dloss = upstream_scale[s % UPSTREAM_SCALES];
            VocabWhole w = make(&f, awkward_size[s % AWKWARD_SIZES],
                                vocabularies[s / AWKWARD_SIZES], 2, dloss);
            check(&f, &w, dloss, tolerance_of_op(f.precision, w.V));
        }
    }
}

/* exp overflows from 89 on, and underflows where the largest logit is in another range. */
Test(vocab, large_logits) {
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        VocabWhole w = make(&f, 31, 33, 300, 1e-3);
        check(&f, &w, 1e-3, tolerance_magnified(tolerance_of_op(f.precision, w.V), 900));
    }
}

Test(vocab, ids_of_a_range) {
    static const int32_t ids[] = {0, 6, 7, 10, 11, IGNORE_INDEX, INT32_MAX};
    static const int32_t want[] = {NOT_HERE, NOT_HERE, 0, 3, NOT_HERE, IGNORE_INDEX, NOT_HERE};
    for (Fixture f = fixture_first(); fixture_open(&f); fixture_next(&f)) {
        int32_t *out = fixture_ids(&f, ids, 7), got[7];
        f.ops->vocab_ids(out, out, 7, 4, 7);
        device_download(f.device, got, out, sizeof got);
        cr_assert_arr_eq(got, want, sizeof got);
    }
}
