#include "grader/labs/02_kernels/loss.h"

#include <math.h>

#include "kernels/crossentropy.h"
#include "kernels/half.h"

/* A case's host side. */
typedef struct Tokens {
    int N, V;
    double *logits, *probs, *losses, *lse;
    int32_t *targets;
} Tokens;

/* Numbers of 16 bytes: a row is read in packs of that many. */
static int rows_pack(const Calls *calls, int i) {
    return 16 / (int)precision_bytes((Precision)calls->c[i].precision);
}

enum { FEW_ROWS = 1000 };

/* Numbers from one row of call i to the next: the model's stride, or another that is at least V and
   a multiple of 8. The least where there are many rows: if that is V, they travel in one piece. */
static int tokens_stride(int i, int N, int V) {
    int least = (V + 7) / 8 * 8;
    const int stride[] = {logits_stride(V), least, least + 8, least + 72};
    return N > FEW_ROWS ? least : stride[i % 4];
}

/* (N, V) logits, as that precision holds them. */
static double *tokens_logits(Calls *calls, int i, Logits logits, const Tokens *t) {
    size_t n = (size_t)t->N * (size_t)t->V;
    float *values = check_normal(calls->check, n, logits.spread, F32);
    for (size_t k = 0; k < n; k++) {
        bool target = (int)(k % (size_t)t->V) == t->targets[k / (size_t)t->V];
        double more = logits.middle + (target ? logits.sure : 0);
        values[k] = precision_round((Precision)calls->c[i].precision, values[k] + (float)more);
    }
    if (logits.one != 0) {
        values[n / 2] = logits.one;
    }
    calls_give(calls, i, "logits", values, n);
    return calls_doubles(calls, values, n);
}

/* Of each three rows the second is ignored; with `all` every row. A row in the middle, where a
   loop does not end, has the last token, the third row has the first. */
static void tokens_aim(Check *check, Tokens *t, bool all) {
    int middle = t->N / 6 * 3;
    t->targets = (int32_t *)check_doubles(check, (size_t)t->N);
    for (int row = 0; row < t->N; row++) {
        int drawn = check_int(check, 0, t->V - 1);
        int token = row == middle ? t->V - 1 : row == 2 ? 0 : drawn;
        t->targets[row] = all || row % 3 == 1 ? IGNORE_INDEX : token;
    }
}

static Tokens tokens_give(Calls *calls, int i, Logits logits, bool all) {
    Tokens t = {.N = calls->c[i].N, .V = calls->c[i].C};
    size_t rows = (size_t)t.N, n = rows * (size_t)t.V;
    char name[WIRE_NAME];
    calls->c[i].stride = tokens_stride(i, t.N, t.V);
    tokens_aim(calls->check, &t, all);
    t.logits = tokens_logits(calls, i, logits, &t);
    t.probs = check_doubles(calls->check, n);
    t.losses = check_doubles(calls->check, rows);
    t.lse = check_doubles(calls->check, rows);
    reference_crossentropy_forward(t.losses, t.probs, t.logits, t.targets, t.N, t.V);
    for (int row = 0; row < t.N; row++) {
        size_t at = (size_t)row * (size_t)t.V, best = at;
        for (size_t v = at; v < at + (size_t)t.V; v++) {
            best = t.logits[v] > t.logits[best] ? v : best;
        }
        t.lse[row] = t.logits[best] - log(t.probs[best]);
    }
    check_give(calls->check, kernel_tensor(name, "targets", i, &calls->c[i]), WIRE_I32, t.targets,
               rows);
    return t;
}

/* A loss is what is left of an lse, which was rounded at its own size. */
static Tolerance tolerance_of_losses(Tokens t, Tolerance tolerance) {
    double loss = 0, lse = 0;
    for (int row = 0; row < t.N; row++) {
        if (t.targets[row] != IGNORE_INDEX && isfinite(t.losses[row])) {
            loss = fmax(loss, fabs(t.losses[row]));
            lse = fmax(lse, fabs(t.lse[row]));
        }
    }
    return lse > loss && loss > 0 ? tolerance_magnified(tolerance, lse / loss) : tolerance;
}

static void tokens_expect_losses(Calls *calls, int i, Tokens t) {
    int N = t.N, V = t.V;
    size_t n = (size_t)N;
    Tolerance tolerance = tolerance_of_op(F32, V);
    Expected *lse = calls_expect(calls, i, "lse", t.lse, n, 0, tolerance);
    Expected *losses =
        calls_expect(calls, i, "losses", t.losses, n, 0, tolerance_of_losses(t, tolerance));
    double *shifted =
        expected_suspect(calls, lse, "the maximum is not added again after the log", t.lse);
    double *largest =
        expected_suspect(calls, lse, "only the maximum: log(sum) is not added", t.lse);
    double *minus =
        expected_suspect(calls, losses, "the sign: a loss is lse - logits[target]", t.losses);
    double *by_rows =
        expected_suspect(calls, losses, "divided by N: no mean is taken here", t.losses);
    double *by_V = expected_suspect(calls, losses, "divided by V: no mean is taken here", t.losses);
    double *counted =
        expected_suspect(calls, losses, "ignored rows are counted: their loss is 0", t.losses);
    const char *sentence = "the numbers of the last pack that lie after V are counted, as 0";
    double *lse_of_packs = expected_suspect(calls, lse, sentence, t.lse);
    double *loss_of_packs = expected_suspect(calls, losses, sentence, t.losses);
    int pack = rows_pack(calls, i), after_V = (pack - V % pack) % pack;
    for (size_t row = 0; row < n; row++) {
        const double *x = t.logits + row * (size_t)V;
        lse_of_packs[row] += log1p(after_V * exp(-t.lse[row]));
        loss_of_packs[row] += t.targets[row] == IGNORE_INDEX ? 0 : lse_of_packs[row] - t.lse[row];
        double max = x[0];
        for (int v = 1; v < V; v++) {
            max = x[v] > max ? x[v] : max;
        }
        shifted[row] = t.lse[row] - max;
        largest[row] = max;
        minus[row] = -t.losses[row];
        by_rows[row] = t.losses[row] / N;
        by_V[row] = t.losses[row] / V;
        counted[row] = t.targets[row] == IGNORE_INDEX ? t.lse[row] : t.losses[row];
    }
}

void crossentropy_add_forward(Calls *calls, Precision precision, int N, int V, Logits logits,
                              bool all) {
    int i = calls_add(calls, precision, N, V);
    calls_move(calls, i, 1);
    tokens_expect_losses(calls, i, tokens_give(calls, i, logits, all));
}

/* dlogits with a mistake. */
typedef enum Flaw {
    NO_DLOSS,
    ASSIGNED,
    MEAN_OVER_V,
    MEAN_OVER_N,
    IGNORED_COUNT,
    NO_TARGET,
    TARGET_UNSCALED,
    WRONG_SIGN,
    FLAWS,
} Flaw;

static const char *const flaw_sentence[FLAWS] = {
    [NO_DLOSS] = "dloss is left out",
    [ASSIGNED] = "= where += is meant: the logits have another gradient already",
    [MEAN_OVER_V] = "divided by V: a mean over the vocabulary is taken nowhere",
    [MEAN_OVER_N] = "divided by N: dloss holds the mean already",
    [IGNORED_COUNT] = "ignored rows get a gradient: theirs is 0",
    [NO_TARGET] = "the target's 1 is not subtracted",
    [TARGET_UNSCALED] = "the target's 1 is subtracted without dloss",
    [WRONG_SIGN] = "the sign: softmax minus one-hot, not the other way round",
};

static double dlogits_flawed(Flaw flaw, double before, double p, bool target, bool ignored,
                             double dloss, int N, int V) {
    before = flaw == ASSIGNED ? 0 : before;
    if (ignored) {
        return before + (flaw == IGNORED_COUNT ? dloss * p : 0);
    }
    double hot = target && flaw != NO_TARGET ? 1 : 0;
    double scale = flaw == NO_DLOSS      ? 1
                   : flaw == MEAN_OVER_V ? dloss / V
                   : flaw == MEAN_OVER_N ? dloss / N
                                         : dloss;
    double gradient = flaw == TARGET_UNSCALED ? scale * p - hot : scale * (p - hot);
    return before + (flaw == WRONG_SIGN ? -gradient : gradient);
}

/* A number too large for the precision is inf there. */
static double as_held(Precision precision, double x) {
    return isinf(precision_round(precision, (float)x)) ? copysign((double)INFINITY, x) : x;
}

static void tokens_expect_dlogits(Calls *calls, int i, Tokens t, double dloss, bool in_place) {
    Precision precision = (Precision)calls->c[i].precision;
    int N = t.N, V = t.V;
    size_t n = (size_t)N * (size_t)V;
    calls->c[i].in_place = in_place;
    calls->padded = strcmp(calls->op, "crossentropy_backward") == 0;
    calls->c[i].dloss = (float)dloss;
    double *before = calls_give_normal(calls, i, "dlogits", n, dloss, precision);
    double *want = check_doubles(calls->check, n);
    if (!in_place) {
        memcpy(want, before, n * sizeof *want);
    }
    Expected *e = calls_expect(calls, i, "dlogits", want, n, 0, tolerance_of_op(precision, V));
    e->element = precision_bytes(precision);
    for (Flaw flaw = 0; flaw < FLAWS; flaw++) {
        double *wrong = expected_suspect(calls, e, flaw_sentence[flaw], NULL);
        for (size_t k = 0; k < n; k++) {
            int row = (int)(k / (size_t)V), v = (int)(k % (size_t)V);
            wrong[k] =
                as_held(precision, dlogits_flawed(flaw, want[k], t.probs[k], v == t.targets[row],
                                                  t.targets[row] == IGNORE_INDEX, dloss, N, V));
        }
    }
    if (in_place) {
        double *added = expected_suspect(
            calls, e, "dlogits is logits here: they are replaced, not added to", t.logits);
        reference_crossentropy_backward(added, t.probs, t.targets, dloss, N, V);
    }
    double *tails =
        expected_suspect(calls, e, "the last V % PACK numbers of a row are left as they were",
                         in_place ? t.logits : before);
    reference_crossentropy_backward(want, t.probs, t.targets, dloss, N, V);
    for (size_t k = 0; k < n; k++) {
        want[k] = as_held(precision, want[k]);
    }
    int packed = V / rows_pack(calls, i) * rows_pack(calls, i);
    for (size_t k = 0; k < n; k++) {
        tails[k] = (int)(k % (size_t)V) < packed ? want[k] : tails[k];
    }
}

/* The probabilities by the lse that is given: a float, whose rounding is none of the kernel's. */
static void tokens_round_lse(Tokens t) {
    for (size_t k = 0; k < (size_t)t.N * (size_t)t.V; k++) {
        t.probs[k] = exp(t.logits[k] - (double)(float)t.lse[k / (size_t)t.V]);
    }
}

void crossentropy_add_backward(Calls *calls, Precision precision, int N, int V, Logits logits,
                               double dloss, bool in_place, bool all) {
    int i = calls_add(calls, precision, N, V);
    Tokens t = tokens_give(calls, i, logits, all);
    tokens_round_lse(t);
    calls_move(calls, i, in_place ? 2 : 3);
    calls_give_doubles(calls, i, "lse", t.lse, (size_t)N);
    tokens_expect_dlogits(calls, i, t, dloss, in_place);
    if (!in_place) {
        size_t n = (size_t)N * (size_t)V;
        Expected *e =
            calls_expect(calls, i, "logits", t.logits, n, 0, tolerance_of_op(precision, 1));
        e->element = precision_bytes(precision);
        double *gradient = expected_suspect(
            calls, e, "logits are replaced: they are only read where dlogits is another tensor",
            NULL);
        reference_crossentropy_backward(gradient, t.probs, t.targets, dloss, N, V);
    }
}

void crossentropy_add_both(Calls *calls, Precision precision, int N, int V, bool in_place) {
    int i = calls_add(calls, precision, N, V);
    Tokens t = tokens_give(calls, i, (Logits){.spread = 2}, false);
    calls_move(calls, i, in_place ? 3 : 4);
    tokens_expect_losses(calls, i, t);
    tokens_expect_dlogits(calls, i, t, 0.125, in_place);
}
