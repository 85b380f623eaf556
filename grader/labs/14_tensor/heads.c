#include "grader/labs/14_tensor/heads.h"

#include <math.h>
#include <string.h>

#include "kernels/half.h"

/* A vocabulary that the ranks do not divide. */
static Ranked draw_ranked(Check *check, Precision precision) {
    static const int most[] = {2, 3, 5};
    int R = most[check_int(check, 0, 2)];
    ModelConfig config = {.T = 8, .L = 1, .NH = R, .precision = precision};
    config.V = R * check_int(check, 54, 80) + 1 + check_int(check, 0, R - 2);
    config.V += config.V < 256 ? R * ((256 - config.V) / R + 1) : 0;
    config.C = config.NH * check_int(check, 3, 5);
    Ranked ranked = ranked_new(check, config, R);
    ranked.given.batches = 1;
    ranked.given.batch[0] = ranked_batch(&ranked, 3, 7);
    return ranked;
}

static double *starts(const Ranked *ranked, int at) {
    double *to = check_doubles(ranked->check, ranked->param[at].count);
    for (size_t i = 0; i < ranked->param[at].count; i++) {
        to[i] = (double)ranked->given.start[ranked->at[at] + i];
    }
    return to;
}

static void head_before(Ranked *ranked, int at) {
    const float *values = check_normal(ranked->check, ranked->param[at].count, 0.1, F32);
    for (size_t i = 0; i < ranked->param[at].count; i++) {
        ranked->before[ranked->at[at] + i] = (double)values[i];
    }
}

/* ---- embedding ------------------------------------------------------------------------------- */

typedef enum EmbedMistake {
    EMBED_RIGHT,
    POSITION_OF_EACH,
    NO_POSITION,
    EMBED_IN_PARTS,
    EMBED_AVERAGED,
    DWPE_OF_ONE,
    DWPE_NEVER,
    DWTE_EVERYWHERE,
    EMBED_MISTAKES
} EmbedMistake;

static const char *const embed_sentence[EMBED_MISTAKES] = {
    [POSITION_OF_EACH] = "each rank adds the position: in the sum it counts R times",
    [NO_POSITION] = "the position is missing",
    [EMBED_IN_PARTS] = "each rank goes on with the tokens of its own rows: the others' come by an "
                       "all-reduce, for which the host waits on the CPU",
    [EMBED_AVERAGED] = "the parts are averaged: their sum is meant",
    [DWPE_OF_ONE] = "the positions get their gradient on rank 0 alone: after one update the ranks "
                    "have different positions",
    [DWPE_NEVER] = "the positions get no gradient",
    [DWTE_EVERYWHERE] = "tokens of other ranks' rows are counted too: as if they were this rank's "
                        "first row",
};

/* Which of the tokens are in a rank's rows: as ids there, else -1. */
static int row_here(const Ranked *ranked, int token, int rank) {
    int first, count;
    judge_rows(ranked->given.config.V, ranked->R, rank, &first, &count);
    return token >= first && token < first + count ? token - first : -1;
}

/* (N, C) of a rank */
static double *embedded(const Ranked *ranked, EmbedMistake mistake, int rank) {
    const Batch *batch = &ranked->given.batch[0];
    int C = ranked->given.config.C, N = batch->B * batch->T, R = ranked->R;
    const double *wte = starts(ranked, WTE), *wpe = starts(ranked, WPE);
    double *x = check_doubles(ranked->check, (size_t)(N * C));
    double positions = mistake == POSITION_OF_EACH ? R : mistake == NO_POSITION ? 0 : 1;
    for (int i = 0; i < N * C; i++) {
        int token = batch->tokens[i / C], t = i / C % batch->T;
        bool parts = mistake == EMBED_IN_PARTS;
        double here = !parts || row_here(ranked, token, rank) >= 0 ? wte[token * C + i % C] : 0;
        x[i] = here + (parts && rank > 0 ? 0 : positions) * wpe[t * C + i % C];
        x[i] /= mistake == EMBED_AVERAGED ? R : 1;
    }
    return x;
}

/* Slices of dwte, or of dwpe, after backward. */
static double *embed_grad(const Ranked *ranked, int at, EmbedMistake mistake, int rank, size_t *n,
                          const double *dout) {
    const Batch *batch = &ranked->given.batch[0];
    int C = ranked->given.config.C, N = batch->B * batch->T;
    double *grad = ranked_part(ranked, ranked->before, at, rank, n);
    bool positions = at == WPE && mistake != DWPE_NEVER && !(mistake == DWPE_OF_ONE && rank > 0);
    for (int i = 0; i < N * C; i++) {
        int t = i / C % batch->T, row = row_here(ranked, batch->tokens[i / C], rank);
        row = row < 0 && mistake == DWTE_EVERYWHERE ? 0 : row;
        if (at == WTE && row >= 0) {
            grad[row * C + i % C] += dout[i];
        } else if (positions) {
            grad[t * C + i % C] += dout[i];
        }
    }
    return grad;
}

static bool expect_embed(Ranked *ranked, const char *what, int at, const double *dout) {
    bool right = true;
    char name[WIRE_NAME];
    const Batch *batch = &ranked->given.batch[0];
    bool backward = dout != NULL;
    for (int rank = 0; rank < ranked->R; rank++) {
        Suspect suspects[EMBED_MISTAKES];
        size_t n = (size_t)(batch->B * batch->T * ranked->given.config.C);
        int count = 0;
        const double *want = backward ? embed_grad(ranked, at, EMBED_RIGHT, rank, &n, dout)
                                      : embedded(ranked, EMBED_RIGHT, rank);
        for (int m = backward ? DWPE_OF_ONE : 1; m < (backward ? EMBED_MISTAKES : DWPE_OF_ONE);
             m++) {
            suspects[count++] =
                (Suspect){embed_sentence[m],
                          backward ? embed_grad(ranked, at, (EmbedMistake)m, rank, &n, dout)
                                   : embedded(ranked, (EmbedMistake)m, rank)};
        }
        right = check_close(ranked->check, rank_name(name, what, rank, "window", 0), want, n,
                            tolerance_of_model(ranked->given.config.precision), suspects, count) &&
                right;
    }
    return right;
}

/* (N, C) */
static size_t batch_numbers(const Ranked *ranked) {
    const Batch *batch = &ranked->given.batch[0];
    return (size_t)(batch->B * batch->T * ranked->given.config.C);
}

/* Forward, or where there is dout, backward. @return whether all is right */
static bool run_embed(Ranked *ranked, const double *dout) {
    if (!ranks_start(ranked->check, "embed", TP_SECONDS)) {
        return false;
    }
    return dout == NULL
               ? expect_embed(ranked, "out", WTE, NULL) &&
                     ranked_expect_sent(ranked, batch_numbers(ranked), 0)
               : expect_embed(ranked, "dwte", WTE, dout) && expect_embed(ranked, "dwpe", WPE, dout);
}

void heads_judge_embed(Check *check, bool backward, Precision precision) {
    Ranked ranked = draw_ranked(check, precision);
    size_t n = batch_numbers(&ranked);
    double *dout = ranked_normal(&ranked, n, 0.3);
    ranked.option[TP_BACKWARD] = backward;
    head_before(&ranked, WTE);
    head_before(&ranked, WPE);
    ranked_give(&ranked, 0);
    for (int rank = 0; rank < ranked.R; rank++) {
        char name[WIRE_NAME];
        const ModelConfig *config = &ranked.given.config;
        if (!backward) {
            check_want(check, rank_name(name, "out", rank, "window", 0), WIRE_F32, n);
            continue;
        }
        ranked_give_floats(&ranked, "dout", rank, dout, n);
        check_want(check, rank_name(name, "dwte", rank, "window", 0), WIRE_F32,
                   judge_count(config, WTE, ranked.R, rank));
        check_want(check, rank_name(name, "dwpe", rank, "window", 0), WIRE_F32,
                   judge_count(config, WPE, ranked.R, rank));
    }
    if (run_embed(&ranked, backward ? dout : NULL) && ranked_on_other_device(&ranked)) {
        run_embed(&ranked, backward ? dout : NULL);
    }
}

/* ---- losses ---------------------------------------------------------------------------------- */

typedef enum LossMistake {
    LOSS_RIGHT,
    OWN_MAX,
    OWN_SUM,
    OWN_TARGET,
    SUM_AVERAGED,
    IGNORED_COUNTED,
    DLNF_IN_PARTS,
    DLNF_AVERAGED,
    LOSS_MISTAKES
} LossMistake;

static const char *const loss_sentence[LOSS_MISTAKES] = {
    [OWN_MAX] = "each rank takes its own maximum: the sums of exponentials have to be of the same "
                "one before they are added",
    [OWN_SUM] = "each rank takes its own sum of exponentials: that is a softmax over its rows",
    [OWN_TARGET] = "the target's logit is missing where it is in another rank's rows",
    [SUM_AVERAGED] = "the loss lacks log R: the sums of exponentials are averaged, and not summed",
    [IGNORED_COUNTED] = "rows whose target is ignored have a loss: theirs is 0",
    [DLNF_IN_PARTS] = "the gradient of ln_f is what this rank's rows give: the others' come by an "
                      "all-reduce, for which the host waits on the CPU",
    [DLNF_AVERAGED] = "the gradient of ln_f is averaged: the sum of the parts is meant",
};

/* The head in double: what a mistake leaves on a rank. */
typedef struct LossResult {
    double *losses;           /* (N) */
    double *dx, *dwte, *dlnf; /* (N, C), the rank's rows, (C) of the scale */
} LossResult;

typedef struct LossJob {
    Ranked ranked;
    int N, C, V;
    double *x, *logits, *lnf, *mean, *rstd; /* logits (N, V) */
    double share;
} LossJob;

static void loss_rows(const LossJob *job, int rank, int *first, int *count) {
    judge_rows(job->V, job->ranked.R, rank, first, count);
}

static double max_of(const LossJob *job, int row, int rank) {
    int first, count;
    double most = -(double)INFINITY;
    loss_rows(job, rank, &first, &count);
    for (int v = first; v < first + count; v++) {
        most = fmax(most, job->logits[row * job->V + v]);
    }
    return most;
}

static double sum_over(const LossJob *job, int row, int rank, double max) {
    int first, count;
    double sum = 0;
    loss_rows(job, rank, &first, &count);
    for (int v = first; v < first + count; v++) {
        sum += exp(job->logits[row * job->V + v] - max);
    }
    return sum;
}

/* log of the sum of exponentials, as a rank comes to believe it. */
static double lse_of(const LossJob *job, int row, LossMistake mistake, int rank) {
    int R = job->ranked.R;
    double max = -(double)INFINITY, sum = 0;
    for (int r = 0; r < R; r++) {
        max = fmax(max, max_of(job, row, r));
    }
    for (int r = 0; r < R; r++) {
        double own = mistake == OWN_MAX ? max_of(job, row, r) : max;
        sum += mistake == OWN_SUM && r != rank ? 0 : sum_over(job, row, r, own);
    }
    max = mistake == OWN_MAX ? max_of(job, row, rank) : max;
    return max + log(mistake == SUM_AVERAGED ? sum / R : sum);
}

static double loss_of(const LossJob *job, int row, double lse, LossMistake mistake, int rank) {
    int target = job->ranked.given.batch[0].targets[row];
    if (target == IGNORE_INDEX) {
        return mistake == IGNORED_COUNTED ? lse : 0;
    }
    bool missing = mistake == OWN_TARGET && row_here(&job->ranked, target, rank) < 0;
    return lse - (missing ? 0 : job->logits[row * job->V + target]);
}

/* (N, V): dloss * (softmax - one_hot), each column as its rank makes it */
static double *dlogits_of(const LossJob *job, const double *lse) {
    double *d = check_doubles(job->ranked.check, (size_t)(job->N * job->V));
    for (int i = 0; i < job->N * job->V; i++) {
        int row = i / job->V, target = job->ranked.given.batch[0].targets[row];
        if (target != IGNORE_INDEX) {
            d[i] = job->share * (exp(job->logits[i] - lse[row]) - (i % job->V == target));
        }
    }
    return d;
}

static LossResult result_of(const LossJob *job, LossMistake mistake, int rank) {
    const Ranked *ranked = &job->ranked;
    Check *check = ranked->check;
    int N = job->N, C = job->C, V = job->V, R = ranked->R;
    LossResult result = {.losses = check_doubles(check, (size_t)N)};
    double *dlnf = check_doubles(check, (size_t)(N * C));
    double *dwte = check_doubles(check, ranked->given.P), *wte = starts(ranked, WTE);
    memcpy(dwte, ranked->before, ranked->given.P * sizeof *dwte);
    for (int r = 0; r < R; r++) {
        int first, count;
        double *lse = check_doubles(check, (size_t)N);
        for (int row = 0; row < N; row++) {
            lse[row] = lse_of(job, row, mistake, r);
            if (r == rank) {
                result.losses[row] = loss_of(job, row, lse[row], mistake, rank);
            }
        }
        loss_rows(job, r, &first, &count);
        const double *d = dlogits_of(job, lse);
        bool adds = mistake != DLNF_IN_PARTS || r == rank;
        for (int i = 0; i < N * count; i++) {
            int row = i / count, v = first + i % count;
            for (int c = 0; c < C; c++) {
                dlnf[row * C + c] += adds ? d[row * V + v] * wte[v * C + c] : 0;
                dwte[v * C + c] += d[row * V + v] * job->lnf[row * C + c];
            }
        }
    }
    for (int i = 0; i < N * C; i++) {
        dlnf[i] /= mistake == DLNF_AVERAGED ? R : 1;
    }
    size_t n;
    result.dwte = ranked_part(ranked, dwte, WTE, rank, &n);
    result.dx = check_doubles(check, (size_t)(N * C));
    result.dlnf = ranked_part(ranked, ranked->before, LNF_WEIGHT, rank, &n);
    double *dbias = check_doubles(check, (size_t)C);
    reference_layernorm_backward(result.dx, result.dlnf, dbias, dlnf, job->x, job->mean, job->rstd,
                                 starts(ranked, LNF_WEIGHT), N, C);
    return result;
}

static void loss_work_out(LossJob *job) {
    const Ranked *ranked = &job->ranked;
    Check *check = ranked->check;
    size_t n = (size_t)(job->N * job->C);
    job->lnf = check_doubles(check, n);
    job->mean = check_doubles(check, (size_t)job->N);
    job->rstd = check_doubles(check, (size_t)job->N);
    job->logits = check_doubles(check, (size_t)(job->N * job->V));
    reference_layernorm_forward(job->lnf, job->mean, job->rstd, job->x, starts(ranked, LNF_WEIGHT),
                                starts(ranked, LNF_BIAS), job->N, job->C);
    reference_matmul_forward(job->logits, job->lnf, starts(ranked, WTE), NULL, job->N, job->C,
                             job->V);
}

enum { LOSS_TENSORS = 4 };
static const char *const loss_tensor[LOSS_TENSORS] = {"losses", "dx", "dwte", "dlnf"};

static size_t loss_count(const LossJob *job, int which, int rank) {
    size_t N = (size_t)job->N, C = (size_t)job->C;
    return which == 0   ? N
           : which == 1 ? N * C
           : which == 2 ? judge_count(&job->ranked.given.config, WTE, job->ranked.R, rank)
                        : C;
}

static const double *loss_part_of(const LossResult *result, int which) {
    const double *of[LOSS_TENSORS] = {result->losses, result->dx, result->dwte, result->dlnf};
    return of[which];
}

/* Whether a mistake can be made here, and seen. */
static bool loss_can_be(LossMistake mistake, bool backward) {
    return mistake == IGNORED_COUNTED ? !backward : backward || mistake < DLNF_IN_PARTS;
}

static bool expect_losses(LossJob *job, bool backward, bool large) {
    Check *check = job->ranked.check;
    Precision precision = job->ranked.given.config.precision;
    bool good = true;
    for (int rank = 0; rank < job->ranked.R; rank++) {
        LossResult right = result_of(job, LOSS_RIGHT, rank), wrong[LOSS_MISTAKES];
        for (int m = 1; m < LOSS_MISTAKES; m++) {
            wrong[m] = loss_can_be((LossMistake)m, backward) ? result_of(job, (LossMistake)m, rank)
                                                             : right;
        }
        for (int which = 0; which < (backward ? LOSS_TENSORS : 1); which++) {
            char name[WIRE_NAME];
            Suspect suspects[LOSS_MISTAKES];
            int count = 0;
            for (int m = 1; m < LOSS_MISTAKES; m++) {
                if (loss_can_be((LossMistake)m, backward)) {
                    suspects[count++] = (Suspect){loss_sentence[m], loss_part_of(&wrong[m], which)};
                }
            }
            Tolerance tolerance = tolerance_of_model(precision);
            good = check_close(check, rank_name(name, loss_tensor[which], rank, "window", 0),
                               loss_part_of(&right, which), loss_count(job, which, rank),
                               large ? tolerance_magnified(tolerance, 300) : tolerance, suspects,
                               count) &&
                   good;
        }
    }
    return good;
}

/* The sum that forward returns is the same on each rank, and that of its losses. */
static void expect_sums(const LossJob *job) {
    double sum[MOST_RANKS], losses[MOST_RANKS];
    size_t bytes = (size_t)job->ranked.R * sizeof *sum;
    memcpy(sum, check_got(job->ranked.check, "loss", WIRE_U64), bytes);
    memcpy(losses, check_got(job->ranked.check, "sum", WIRE_U64), bytes);
    if (!check_compared(job->ranked.check, memcmp(sum, losses, bytes) == 0,
                        "the head's forward returns %.9g on rank 0, and pass_losses(pass) is %.9g",
                        sum[0], losses[0])) {
        return;
    }
    for (int rank = 1; rank < job->ranked.R; rank++) {
        if (!check_compared(job->ranked.check, memcmp(&sum[rank], &sum[0], sizeof *sum) == 0,
                            "the loss is %.9g on rank %d and %.9g on rank 0: it is made of numbers "
                            "that all ranks have",
                            sum[rank], rank, sum[0])) {
            return;
        }
    }
}

void heads_judge_loss(Check *check, bool backward, bool large, Precision precision, bool gpu) {
    LossJob job = {.ranked = draw_ranked(check, precision)};
    Ranked *ranked = &job.ranked;
    float share = 1.0f / (float)check_int(check, 7, 31);
    job.share = (double)share;
    job.N = ranked->given.batch[0].B * ranked->given.batch[0].T;
    job.C = ranked->given.config.C;
    job.V = ranked->given.config.V;
    /* exp overflows from 89 on; and of logits near 0 all ranks have the same sum */
    for (size_t i = 0; i < ranked->param[LNF_WEIGHT].count; i++) {
        float *scale = &ranked->given.start[ranked->at[LNF_WEIGHT] + i];
        *scale = precision_round(precision, *scale * (large ? 400 : 20));
    }
    ranked->option[TP_BACKWARD] = backward;
    ranked->option[RANKS_GPU] = gpu;
    head_before(ranked, WTE);
    head_before(ranked, LNF_WEIGHT);
    job.x = ranked_normal(ranked, (size_t)(job.N * job.C), 1);
    loss_work_out(&job);
    ranked_give(ranked, 0);
    check_give(check, "share", WIRE_F32, &share, 1);
    check_want(check, "loss", WIRE_U64, (size_t)ranked->R);
    check_want(check, "sum", WIRE_U64, (size_t)ranked->R);
    for (int rank = 0; rank < ranked->R; rank++) {
        char name[WIRE_NAME];
        ranked_give_floats(ranked, "x", rank, job.x, (size_t)(job.N * job.C));
        for (int which = 0; which < (backward ? LOSS_TENSORS : 1); which++) {
            check_want(check, rank_name(name, loss_tensor[which], rank, "window", 0), WIRE_F32,
                       loss_count(&job, which, rank));
        }
    }
    if (ranks_start(check, "head", TP_SECONDS)) {
        bool right = expect_losses(&job, backward, large);
        expect_sums(&job);
        if (right) { /* the gradient of ln_f; maxima, sums, logits of targets */
            ranked_expect_sent(ranked, (size_t)(job.N * job.C), 3 * (size_t)job.N);
        }
    }
}
