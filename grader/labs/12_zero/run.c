/* Ranks that share a model: what is given, and what has to come back. The contract is in run.h; the
   bytes are in share.c. */
#include "grader/labs/12_zero/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grader/labs/12_zero/cut.h"

/* A large epsilon: the update depends on the size of the gradient, and a wrong factor shows. */
static const float EPSILON = 0.02f;

static void *room(Check *check, size_t bytes) {
    return check_doubles(check, bytes / sizeof(double) + 1);
}

ZeroRun *zero_run(Check *check, int stage, int ranks, int micros, Precision precision) {
    ModelConfig config = {.V = check_int(check, 257, 270),
                          .T = check_int(check, 11, 14),
                          .L = 2 + stage % 3, /* 3, 4 and 2 */
                          .NH = 2,
                          .C = 2 * check_int(check, 13, 18),
                          .precision = precision};
    ZeroRun *run = room(check, sizeof *run);
    int steps = ranks * micros * ZERO_MOST_STEPS > MOST_BATCHES ? 2 : ZERO_MOST_STEPS;
    *run = (ZeroRun){.check = check, .given = given_new(check, config, "step")};
    run->given.adamw.epsilon = EPSILON;
    run->given.max_norm = 0;
    run->option[RANKS_COUNT] = ranks;
    run->option[ZERO_STAGE] = stage;
    run->option[ZERO_STEPS] = steps;
    run->option[ZERO_MICROS] = micros;
    run->option[ZERO_SCALED] = precision == F16;
    return run;
}

/* The first batch is the largest; one of the last rank's has nothing to learn from. */
static void draw_batches(ZeroRun *run) {
    const ModelConfig *config = &run->given.config;
    int ranks = run->option[RANKS_COUNT];
    run->given.batches = ranks * run->option[ZERO_MICROS] * run->option[ZERO_STEPS];
    CHECK(run->given.batches <= MOST_BATCHES, "%d batches", run->given.batches);
    for (int i = 0; i < run->given.batches; i++) {
        int B = run->budget > 0 || i % ranks == 0 ? 2 : 1;
        int T = run->budget > 0 ? config->T : check_int(run->check, 8, config->T);
        run->given.batch[i] = batch_full(run->check, config->V, B, T);
        batch_cut_row(run->check, &run->given.batch[i], 0, T / 2);
    }
    Batch *empty = &run->given.batch[ranks - 1];
    *empty = run->option[ZERO_SPOILED] > 0 ? *empty : batch_all_masked(*empty);
}

void zero_describe(ZeroRun *run) {
    const ModelConfig *config = &run->given.config;
    run->params = room(run->check, (size_t)params_count(config) * sizeof(Param));
    params_describe(run->params, config);
}

void zero_spoil_at(ZeroRun *run, int param, ZeroBad bad) {
    run->option[ZERO_SPOILED] = check_int(run->check, 1, run->option[RANKS_COUNT]);
    run->option[ZERO_SPOILED_PARAM] = param;
    run->option[ZERO_SPOILED_BY] = (int32_t)bad;
}

void zero_spoil(ZeroRun *run, bool of_rank_0) {
    int ranks = run->option[RANKS_COUNT], i;
    zero_describe(run);
    do {
        i = check_int(run->check, 0, params_count(&run->given.config) - 1);
    } while ((cut_owner(run->params, i, 0, ranks) == 0) != of_rank_0);
    zero_spoil_at(run, i, of_rank_0 ? BAD_NAN : BAD_INFINITE);
}

/* ---- the two programs ------------------------------------------------------------------------ */

static void want_of_run(const ZeroRun *run) {
    int ranks = run->option[RANKS_COUNT], steps = run->option[ZERO_STEPS];
    ranks_want(run->check, ranks, "weights", steps, run->given.P);
    ranks_want(run->check, ranks, "own", steps, run->given.P);
    check_want(run->check, "reports", WIRE_U64, (size_t)(ranks * steps) * REPORTED);
    check_want(run->check, "states", WIRE_U64, (size_t)ranks * STATES);
    check_want(run->check, "parts", WIRE_U64, (size_t)ranks * 2 * ZERO_MOST_PARTS);
    if (run->planted != NULL) {
        check_give(run->check, "planted", WIRE_F32, run->planted, run->given.P);
        check_want(run->check, "planted norm", WIRE_U64, (size_t)ranks);
    }
}

/* Weights after each step, by the kit's program. */
static float *kit_weights(ZeroRun *run) {
    size_t P = run->given.P;
    int steps = run->option[ZERO_STEPS];
    float *weights = room(run->check, (size_t)steps * P * sizeof *weights);
    for (int s = 0; s < steps; s++) {
        memcpy(weights + (size_t)s * P, ranks_got(run->check, "weights", 0, s),
               P * sizeof *weights);
    }
    return weights;
}

/* A rank that has skipped an update sums the next window, while one that makes it shares weights:
   which of two calls sums, its name says. */
static bool update_of_some(const Check *check) {
    const char *text = check_text(check);
    return strstr(text, "[cudasim] collective mismatch:") != NULL &&
           (strstr(text, " calls ncclReduce") != NULL ||
            strstr(text, " calls ncclAllReduce") != NULL);
}

static bool start_spoiled(ZeroRun *run) {
    if (check_run(run->check, "run", SECONDS)) {
        return true;
    }
    if (ranks_asked_alone(run->check)) {
        check_fail(run->check, "one rank asks, and another goes on: all ranks make the call that "
                               "asks whether one has found an inf, whatever they have found "
                               "themselves");
    } else if (update_of_some(run->check)) {
        check_fail(run->check, "some ranks update and others do not, so their calls do not meet: "
                               "where a gradient of any rank is not finite, none of them updates");
    } else {
        ranks_tell_unmet(run->check);
    }
    return false;
}

bool zero_start(ZeroRun *run) {
    draw_batches(run);
    zero_describe(run);
    ranks_give(run->check, run->option, run->budget);
    given_give(&run->given);
    want_of_run(run);
    if (!check_run_kit(run->check, "MISTAKE_NONE", SECONDS)) {
        return false;
    }
    size_t bytes = (size_t)(run->option[ZERO_STEPS] * REPORTED) * sizeof(uint64_t);
    run->right = kit_weights(run);
    run->reports = room(run->check, bytes);
    memcpy(run->reports, check_got(run->check, "reports", WIRE_U64), bytes);
    bool done = run->option[ZERO_SPOILED] > 0 ? start_spoiled(run)
                                              : ranks_start(run->check, "run", SECONDS);
    return done && ranks_take_calls(run->check, &run->calls);
}

/* ---- weights --------------------------------------------------------------------------------- */

static bool same(float a, float b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

static bool has_bits(float x, uint32_t wanted) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits == wanted;
}

/* Not handed back. */
static bool blank(float x) {
    return has_bits(x, 0xffffffff);
}

/* A number that is compared: of which tensor, whose, and what is right. */
typedef struct WrongNumber {
    int step, rank, owner;
    const Param *param;
    size_t at, place; /* among all, and in its tensor */
    float got, right;
    bool whole; /* of the weights that are whole on each rank */
} WrongNumber;

/* Finds the first number that is wrong. @return whether there is one */
static bool find_wrong(const ZeroRun *run, int s, int r, bool whole, WrongNumber *found) {
    int ranks = run->option[RANKS_COUNT];
    const float *got = ranks_got(run->check, whole ? "weights" : "own", r, s);
    const float *right = run->right + (size_t)s * run->given.P;
    size_t at = 0;
    for (int i = 0; i < params_count(&run->given.config); i++) {
        for (size_t j = 0; j < run->params[i].count; j++, at++) {
            int owner = cut_owner(run->params, i, j, ranks);
            bool here = whole || owner == r;
            if (here ? !same(got[at], right[at]) : !blank(got[at])) {
                *found =
                    (WrongNumber){s, r, owner, &run->params[i], at, j, got[at], right[at], whole};
                return true;
            }
        }
    }
    return false;
}

static const char *const said[ZERO_MISTAKES] = {
    [MISTAKE_MEAN] = "the sum over the ranks is divided by their number: the share of a target "
                     "counts those of all ranks already",
    [MISTAKE_OWN] = "each rank updates its part from its own gradients: those of the other ranks "
                    "are not in the sum, or not yet: on the CPU the host waits for it, by "
                    "zero_settle()",
    [MISTAKE_LAST_MICRO] = "only the last micro-batch is in the sum: those before it are lost",
    [MISTAKE_OWN_NORM] = "each rank clips by the norm of its own part: the limit is one for the "
                         "gradients of all parts together",
    [MISTAKE_ROOTS] = "the norms of the parts are added: it is their squares that add up",
    [MISTAKE_NOT_ZEROED] = "the gradients of the window before are in the sum once more: after an "
                           "update they are set to zero",
    [MISTAKE_OWN_FOUND] = "only the rank whose part is not finite skips the update: the others "
                          "update theirs, and the weights fit together no more",
    [MISTAKE_NOT_SKIPPED] = "the update is made although a gradient is not finite",
    [MISTAKE_SCALED] = "the gradients are still multiplied by the loss scale",
};

/* The numbers of a step that came back, each from the rank that owns it. */
static float *put_together(const ZeroRun *run, int step) {
    int ranks = run->option[RANKS_COUNT];
    float *all = room(run->check, run->given.P * sizeof *all);
    size_t at = 0;
    for (int i = 0; i < params_count(&run->given.config); i++) {
        for (size_t j = 0; j < run->params[i].count; j++, at++) {
            int owner = cut_owner(run->params, i, j, ranks);
            all[at] = ranks_got(run->check, "own", owner, step)[at];
        }
    }
    return all;
}

static bool near_enough(float a, float b, double least) {
    double far = fabs((double)a - (double)b);
    return far <= least * (fabs((double)b) + 0.1) || (isnan(a) && isnan(b));
}

/* Whether a mistake gives what came back of a step, and not what is right. */
static bool explains(ZeroRun *run, ZeroMistake mistake, int step, const float *got) {
#define QUOTED(name) #name,
    static const char *const cases[] = {EACH_ZERO_MISTAKE(QUOTED)};
    double least = run->given.config.precision == F32 ? 2e-6 : 2e-3;
    size_t P = run->given.P;
    bool differs = false;
    if (!check_run_kit(run->check, cases[mistake], SECONDS)) {
        return false;
    }
    const float *would = ranks_got(run->check, "weights", 0, step);
    const float *right = run->right + (size_t)step * P;
    for (size_t i = 0; i < P; i++) {
        if (!near_enough(got[i], would[i], least)) {
            return false;
        }
        differs = differs || !near_enough(would[i], right[i], 100 * least);
    }
    return differs;
}

/* Whether a mistake could show in this run at all. */
static bool is_possible(const ZeroRun *run, int mistake, int step) {
    switch (mistake) {
    case MISTAKE_LAST_MICRO:
        return run->option[ZERO_MICROS] > 1;
    case MISTAKE_OWN_NORM:
    case MISTAKE_ROOTS:
        return run->given.max_norm > 0;
    case MISTAKE_NOT_ZEROED:
        return step > 0;
    case MISTAKE_OWN_FOUND:
    case MISTAKE_NOT_SKIPPED:
    case MISTAKE_SCALED:
        return run->option[ZERO_SCALED];
    default:
        return true;
    }
}

static void name_mistake(ZeroRun *run, int step) {
    float *got = put_together(run, step);
    for (int m = MISTAKE_NONE + 1; m < ZERO_MISTAKES; m++) {
        if (is_possible(run, m, step)) {
            check_suspect(run->check, said[m], explains(run, (ZeroMistake)m, step, got));
        }
    }
}

/* A number that is there and should not be, or the other way round. */
static bool tell_place(const ZeroRun *run, const WrongNumber *wrong) {
    const Param *param = wrong->param;
    if (!wrong->whole && wrong->owner != wrong->rank) {
        check_fail(run->check,
                   "number %zu of %s, layer %d, is rank %d's by the contract, and rank %d has it "
                   "among its pieces, too",
                   wrong->place, param->name, param->layer, wrong->owner, wrong->rank);
        return true;
    }
    if (!wrong->whole && blank(wrong->got)) {
        check_fail(run->check,
                   "number %zu of %s, layer %d, is rank %d's by the contract, and not among its "
                   "pieces",
                   wrong->place, param->name, param->layer, wrong->rank);
        return true;
    }
    return false;
}

/* Where the rank's own part is right, and others' are what they were before the update. */
static bool tell_stale(const ZeroRun *run, const WrongNumber *wrong) {
    size_t P = run->given.P;
    const float *before = wrong->step > 0 ? run->right + (size_t)(wrong->step - 1) * P : NULL;
    WrongNumber own;
    bool is_own = wrong->owner == wrong->rank;
    float owners = ranks_got(run->check, "own", wrong->owner, wrong->step)[wrong->at];
    if (!wrong->whole || is_own || !same(owners, wrong->right) ||
        find_wrong(run, wrong->step, wrong->rank, false, &own)) {
        return false;
    }
    bool stale = before != NULL && same(wrong->got, before[wrong->at]);
    stale = stale || (before == NULL && run->given.config.precision == F32 &&
                      same(wrong->got, run->given.start[wrong->at]));
    check_fail(run->check,
               stale ? "rank %d has updated its own part, and has that of rank %d as it was before "
                       "the update (%s, layer %d): the weights come together after the update, "
                       "those of every unit"
                     : "rank %d has its own part right, and that of rank %d is not what that rank "
                       "has (%s, layer %d): where does each part begin in the unit?",
               wrong->rank, wrong->owner, wrong->param->name, wrong->param->layer);
    return true;
}

/* The weights of one step, on every rank. */
static bool expect_zero_weights(ZeroRun *run, int s) {
    WrongNumber wrong;
    int ranks = run->option[RANKS_COUNT];
    for (int i = 0; i < ranks * 2; i++) {
        int r = i / 2;
        bool whole = i % 2 == 1;
        if (whole && run->option[ZERO_STAGE] == 3) {
            continue;
        }
        if (!find_wrong(run, s, r, whole, &wrong)) {
            check_compared(run->check, true, "the weights of rank %d after step %d", r, s);
            continue;
        }
        if (!tell_place(run, &wrong) && !tell_stale(run, &wrong)) {
            check_compared(run->check, false,
                           "after step %d rank %d has %.9g for number %zu of %s, layer %d (rank "
                           "%d's); %.9g is right, bit for bit",
                           s, r, (double)wrong.got, wrong.place, wrong.param->name,
                           wrong.param->layer, wrong.owner, (double)wrong.right);
            check_suspect(run->check,
                          "it comes from memory to which nothing was written, or which was "
                          "released: where memory is checked, both hold NaN",
                          has_bits(wrong.got, ZERO_UNWRITTEN));
            name_mistake(run, wrong.step);
        }
        return false;
    }
    return true;
}

/* ---- reports --------------------------------------------------------------------------------- */

static double as_double(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static bool same_double(uint64_t a, uint64_t b) {
    return a == b || (isnan(as_double(a)) && isnan(as_double(b)));
}

static const uint64_t *report_of(const ZeroRun *run, int s, int r) {
    size_t columns = (size_t)run->option[ZERO_STEPS] * REPORTED;
    const uint64_t *reports = check_got(run->check, "reports", WIRE_U64);
    return reports + (size_t)r * columns + (size_t)(s * REPORTED);
}

static const char *skip_reason(const ZeroRun *run, int s) {
    if (run->reports[s * REPORTED + REPORTED_SKIPPED]) {
        return "where a gradient of any rank is not finite, none of them updates";
    }
    if (run->option[ZERO_SPOILED] > 0 && s == run->option[ZERO_STEPS] - 1) {
        return "the gradients of all ranks are finite (one is so large that its square is not)";
    }
    return s > 0 && run->reports[(s - 1) * REPORTED + REPORTED_SKIPPED]
               ? "its gradients are finite. After the step before, which all skip, gradients are "
                 "set to zero, too, and so is what says that one was not finite"
               : "the gradients of all ranks are finite";
}

static bool expect_skip(const ZeroRun *run, int s, int r) {
    const uint64_t *got = report_of(run, s, r), *right = run->reports + s * REPORTED;
    if (got[REPORTED_SKIPPED] == right[REPORTED_SKIPPED]) {
        return true;
    }
    check_fail(run->check, "step %d: rank %d has %s the update, and all ranks must %s: %s", s, r,
               got[REPORTED_SKIPPED] ? "skipped" : "made",
               right[REPORTED_SKIPPED] ? "skip it" : "make it", skip_reason(run, s));
    return false;
}

/* Before the weights, which a wrong rate makes wrong. */
static bool expect_rate(const ZeroRun *run, int s, int r) {
    const uint64_t *got = report_of(run, s, r), *right = run->reports + s * REPORTED;
    if (!same_double(got[REPORTED_RATE], right[REPORTED_RATE])) {
        bool unwritten = right[REPORTED_SKIPPED] && as_double(got[REPORTED_RATE]) == 0;
        check_fail(run->check,
                   unwritten
                       ? "step %d: rank %d reports a rate of %.9g, and the schedule's is %.9g: "
                         "the report is written where the update is skipped, too"
                       : "step %d: rank %d has a rate of %.9g, the schedule says %.9g; the caller "
                         "ticks it, once for each update",
                   s, r, as_double(got[REPORTED_RATE]), as_double(right[REPORTED_RATE]));
        return false;
    }
    return true;
}

static bool expect_report(const ZeroRun *run, int s, int r) {
    const uint64_t *got = report_of(run, s, r), *right = run->reports + s * REPORTED;
    if (!same_double(got[REPORTED_NORM], right[REPORTED_NORM])) {
        check_fail(run->check,
                   "step %d: rank %d says the norm is %.9g, %.9g is right, bit for bit: double "
                   "sums of the squares of each block of %d numbers, of all ranks, added in the "
                   "order of the flat index: unit after unit, in each rank after rank; the sum is "
                   "then rounded to float, and its root taken",
                   s, r, as_double(got[REPORTED_NORM]), as_double(right[REPORTED_NORM]),
                   TENSOR_BLOCK);
    } else if (run->option[ZERO_SCALED] &&
               !same_double(got[REPORTED_SCALE], right[REPORTED_SCALE])) {
        check_fail(run->check, "step %d: rank %d goes on with a loss scale of %g, %g is right", s,
                   r, as_double(got[REPORTED_SCALE]), as_double(right[REPORTED_SCALE]));
    } else {
        return true;
    }
    return false;
}

/* On every rank. */
static bool all_ranks(const ZeroRun *run, int s, bool (*expect)(const ZeroRun *run, int s, int r)) {
    for (int r = 0; r < run->option[RANKS_COUNT]; r++) {
        if (!expect(run, s, r)) {
            return false;
        }
    }
    return true;
}

bool zero_expect_steps(ZeroRun *run) {
    for (int s = 0; s < run->option[ZERO_STEPS]; s++) {
        if (!all_ranks(run, s, expect_skip) || !all_ranks(run, s, expect_rate) ||
            !expect_zero_weights(run, s) || !all_ranks(run, s, expect_report)) {
            return false;
        }
    }
    check_good(run->check);
    return true;
}
