/* Windows of ranks in a judge: sums of the kit's single steps, by plain loops. The contract is in
   sums.h. */
#include "grader/labs/11_data_parallel/sums.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grader/judge_profile.h"
#include "grader/labs/11_data_parallel/blame.h"

enum { SUM_SECONDS = 40 };

SumTrial *sums_of(Check *check, ModelConfig config, int ranks, int windows, int micros) {
    SumTrial *trial = (SumTrial *)check_doubles(check, sizeof *trial / sizeof(double) + 1);
    *trial = (SumTrial){.given = given_new(check, config, "window"),
                        .ranks = ranks,
                        .windows = windows,
                        .micros = micros};
    Given *given = &trial->given;
    given->batches = ranks * windows * micros;
    for (int i = 0; i < given->batches; i++) {
        given->batch[i] = batch_uneven(check, config.V, 1 + i % 2, check_int(check, 7, 12));
    }
    given->batch[0] = batch_one_target(given->batch[0]);
    if (given->batches > 2) {
        given->batch[given->batches - 1] = batch_all_masked(given->batch[given->batches - 1]);
    }
    int32_t option[RANK_OPTIONS] = {[RANKS_COUNT] = ranks,
                                    [RANKS_GPU] = true,
                                    [DDP_BUCKET] = 30000,
                                    [DDP_WINDOWS] = windows,
                                    [DDP_MICROS] = micros};
    memcpy(trial->option, option, sizeof option);
    return trial;
}

SumTrial *sums_new(Check *check, int ranks, int windows, int micros) {
    ModelConfig config = {.V = 256 + check_int(check, 0, 9), .T = 12, .L = 3, .NH = 2, .C = 16};
    return sums_of(check, config, ranks, windows, micros);
}

/* ---- both runs ------------------------------------------------------------------------------- */

static void sums_give(SumTrial *trial) {
    Check *check = trial->given.check;
    size_t P = trial->given.P, R = (size_t)trial->ranks, windows = (size_t)trial->windows;
    given_give(&trial->given);
    ranks_give(check, trial->option, 0);
    ranks_want(check, trial->ranks, "gradients", trial->windows, P);
    ranks_want(check, trial->ranks, "first", trial->windows, P);
    ranks_want(check, trial->ranks, "single", trial->windows, P);
    ranks_want(check, trial->ranks, "weights", trial->windows, P);
    ranks_want(check, trial->ranks, "start", 1, P);
    check_want(check, "reports", WIRE_U64, R * windows * REPORT_NUMBERS);
    ranks_want_bytes(check, trial->ranks);
}

static float *sums_kept(const SumTrial *trial, const char *what, int rank, int window) {
    size_t P = trial->given.P;
    float *kept = (float *)check_doubles(trial->given.check, P / 2 + 1);
    memcpy(kept, ranks_got(trial->given.check, what, rank, window), P * sizeof *kept);
    return kept;
}

/* sum = ((g_0 + g_1) + g_2) + ... */
static float *sum_of(const SumTrial *trial, float *const *single) {
    size_t P = trial->given.P;
    float *sum = (float *)check_doubles(trial->given.check, P / 2 + 1);
    for (size_t i = 0; i < P; i++) {
        sum[i] = single[0][i];
        for (int r = 1; r < trial->ranks; r++) {
            sum[i] += single[r][i];
        }
    }
    return sum;
}

static void sums_keep(SumTrial *trial) {
    for (int w = 0; w < trial->windows; w++) {
        for (int r = 0; r < trial->ranks; r++) {
            trial->single[w][r] = sums_kept(trial, "single", r, w);
            trial->first[w][r] = sums_kept(trial, "first", r, w);
        }
        trial->sum[w] = sum_of(trial, trial->single[w]);
        if (trial->option[DDP_UPDATES]) {
            trial->weights[w] = sums_kept(trial, "weights", 0, w);
        }
    }
}

bool sums_run(SumTrial *trial) {
    Check *check = trial->given.check;
    sums_give(trial);
    if (!check_run_kit(check, "alone", SUM_SECONDS)) {
        return false;
    }
    sums_keep(trial);
    return ranks_start(check, "windows", SUM_SECONDS) && profile_expect_no_problem(check);
}

/* ---- comparing ------------------------------------------------------------------------------- */

bool sums_expect_gradients(SumTrial *trial) {
    return blame_gradients(trial);
}

/* The parameter that number i of all is in, and its place there. */
const Param *sums_param(const SumTrial *trial, size_t *i) {
    const Param *param = trial->given.reference->params;
    while (*i >= param->count) {
        *i -= param->count;
        param++;
    }
    return param;
}

/* The first number that is another one, in words; "" where all are equal. */
static bool same_on_all(const SumTrial *trial, const char *what, int w, const float *want,
                        char text[200]) {
    for (int r = 0; r < trial->ranks; r++) {
        const float *got = ranks_got(trial->given.check, what, r, w);
        for (size_t i = 0; i < trial->given.P; i++) {
            if (memcmp(&got[i], &want[i], sizeof got[i]) != 0) {
                char name[WIRE_NAME];
                size_t at = i;
                param_scope(name, sums_param(trial, &at));
                snprintf(text, 200, "rank %d, window %d: %s[%zu] is %.9g, and %.9g is right", r,
                         w + 1, name, at, (double)got[i], (double)want[i]);
                return false;
            }
        }
    }
    return true;
}

bool sums_expect_weights(SumTrial *trial) {
    for (int w = 0; w < trial->windows; w++) {
        char text[200] = "";
        if (!same_on_all(trial, "weights", w, trial->weights[w], text)) {
            check_compared(trial->given.check, false, "weights after an update: %s", text);
            return false;
        }
    }
    check_good(trial->given.check);
    return true;
}

bool sums_expect_skipped(SumTrial *trial, int window, bool skipped) {
    const uint64_t *reports = check_got(trial->given.check, "reports", WIRE_U64);
    for (int r = 0; r < trial->ranks; r++) {
        uint64_t got = reports[(r * trial->windows + window) * REPORT_NUMBERS + REPORT_SKIPPED];
        if (got != skipped) {
            check_fail(trial->given.check,
                       "window %d: rank %d has %s, and the gradients of rank %d are %s: what "
                       "one rank has is in the sum of all",
                       window + 1, r, got ? "skipped its update" : "updated",
                       trial->option[DDP_SPOILED] - 1, skipped ? "not finite" : "finite by now");
            return false;
        }
    }
    check_good(trial->given.check);
    return true;
}

static const char broadcast_early[] =
    "the broadcast does not wait for the ops before it, which may still compute the weights: its "
    "stream has to wait for an event that is recorded in the default stream";

bool sums_expect_start(SumTrial *trial) {
    char text[200] = "";
    bool right = same_on_all(trial, "start", 0, trial->given.start, text);
    const float *got = ranks_got(trial->given.check, "start", trial->ranks - 1, 0);
    float start = trial->given.start[0];
    bool early = got[0] == DDP_EARLY * start, of_another = false;
    for (int r = 1; r < trial->ranks; r++) { /* but for the rounding of a half */
        of_another = of_another || fabsf(got[0] / start / (float)DDP_OWN(r) - 1) < 0.01f;
    }
    check_compared(trial->given.check, right, "after ddp_broadcast(): %s", text);
    check_suspect(trial->given.check, broadcast_early, !right && early);
    check_suspect(trial->given.check,
                  "weights are not those of rank 0: each rank keeps its own, gets another's, or "
                  "nobody waits for what comes",
                  !right && of_another);
    return right;
}

/* The last launch of a rank before a call: of the op that computes its weights, where the record
   begins. NULL where it has none. */
static const CudasimEntry *op_before(const CudasimRecord *record, int rank,
                                     const CudasimEntry *call) {
    const CudasimEntry *op = NULL;
    for (const CudasimEntry *e = record->entry; e < call; e++) {
        op = e->rank == rank && e->kind == CUDASIM_LAUNCH ? e : op;
    }
    return op;
}

bool sums_expect_start_order(SumTrial *trial) {
    Check *check = trial->given.check;
    CudasimRecord record;
    if (!record_take(check, &record)) {
        return false;
    }
    const CudasimEntry *op[MOST_RANKS] = {NULL};
    for (const CudasimEntry *e = record.entry; e < record.entry + record.count; e++) {
        if (e->kind != CUDASIM_COLLECTIVE || e->collective != CUDASIM_BROADCAST) {
            continue;
        }
        op[e->rank] = op[e->rank] != NULL ? op[e->rank] : op_before(&record, e->rank, e);
        if (op[e->rank] != NULL && !ranks_before(&record, op[e->rank], e)) {
            char call[CHECK_LABEL];
            check_compared(check, false, "rank %d: %s", e->rank, record_place(e, call));
            check_suspect(check, broadcast_early, true);
            return false;
        }
    }
    return true;
}

bool sums_expect_sent(SumTrial *trial) {
    Check *check = trial->given.check;
    RankCalls calls;
    if (!ranks_take_calls(check, &calls)) {
        return false;
    }
    double once = 0;
    for (int i = 0; i < trial->given.reference->param_count; i++) {
        bool frozen = i + 1 == trial->option[DDP_FROZEN];
        double bytes = frozen ? 0 : 4 * (double)trial->given.reference->params[i].count;
        once += 2 * bytes * (trial->ranks - 1) / trial->ranks;
    }
    for (int r = 0; r < trial->ranks; r++) {
        double sent = ranks_sent(&calls, r), right = once * trial->windows;
        double times = sent / right;
        bool weights = trial->option[DDP_STARTS], more = sent > right * (1 + 1e-6);
        if ((more && !weights) || !(sent >= right * (1 - 1e-6))) {
            check_compared(check, false,
                           "rank %d sends %.0f bytes in %d windows of %d micro-batches, and the "
                           "gradients once in each window have %.0f",
                           r, sent, trial->windows, trial->micros, right);
            check_suspect(check,
                          "all gradients are summed in every micro-batch: once in a window, in "
                          "the backward of its last one, is enough",
                          trial->micros > 1 && fabs(times - trial->micros) < 1e-6);
            double later = 1 + trial->micros * (trial->windows - 1.0);
            check_suspect(check,
                          "from the second window on gradients are summed in every micro-batch: "
                          "ddp_begin() says of each whether it is the last one",
                          trial->micros > 1 && trial->windows > 1 &&
                              fabs(times * trial->windows - later) < 1e-6);
            return false;
        }
    }
    return check_compared(check, true, "%s", "");
}
