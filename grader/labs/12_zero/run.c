/* Ranks that share a model: what is given, and what has to come back. The contract is in run.h; the
   bytes are in share.c. */
#include "grader/labs/12_zero/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grader/labs/12_zero/cut.h"

const char zero_scaled_sentence[] =
    "the norm is that of gradients which have the loss scale: it is taken back before";
const char zero_rescaled_sentence[] =
    "the norm is that of gradients which have the square of the loss scale: unscale(), of the ops, "
    "multiplies by what it is given, which is 1 / scale";
const char zero_unwritten_sentence[] =
    "it comes from memory to which nothing was written, or which was released: where memory is "
    "checked, both hold NaN";

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
    run->given.max_norm = 0; /* a wrong factor of all gradients shows */
    run->option[RANKS_COUNT] = ranks;
    run->option[ZERO_STAGE] = stage;
    run->option[ZERO_STEPS] = steps;
    run->option[ZERO_MICROS] = micros;
    run->option[ZERO_SCALED] = precision == F16;
    return run;
}

void zero_set_layers(ZeroRun *run, int layers) {
    ModelConfig config = run->given.config;
    uint64_t seed = run->given.seed;
    AdamW adamw = run->given.adamw;
    config.L = layers;
    run->given = given_new(run->check, config, "step");
    run->given.seed = seed;
    run->given.adamw = adamw;
    run->given.max_norm = 0;
}

void zero_end_schedule(ZeroRun *run) {
    run->given.schedule.warmup_steps = 1;
    run->given.schedule.max_steps = run->option[ZERO_STEPS] - 1;
}

/* The first batch is the largest; one of rank 1's has nothing to learn from, and is not the last
   of its window. */
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
    Batch *empty = &run->given.batch[1];
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
    check_want(run->check, "parts", WIRE_U64, (size_t)ranks * ZERO_MOST_PARTS * PLACES);
    check_want(run->check, "closed", WIRE_U64, (size_t)ranks);
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

/* Whether the calls that differ come after those of a window: each unit has a sum of its own.
   Before that nobody knows whether a gradient is finite. */
static bool window_is_summed(const ZeroRun *run) {
    const char *text = strstr(check_text(run->check), "[cudasim] collective mismatch:");
    const char *number = text != NULL ? strchr(text, '#') : NULL;
    return number != NULL && atoi(number + 1) > run->given.config.L + 1;
}

/* A rank that has skipped an update sums the next window, while one that makes it shares weights:
   which of two calls sums, its name says. */
static bool update_of_some(const Check *check) {
    const char *text = strstr(check_text(check), "[cudasim] collective mismatch:");
    bool sums = text != NULL && (strstr(text, " calls ncclReduce") != NULL ||
                                 strstr(text, " calls ncclAllReduce") != NULL);
    return sums && (strstr(text, " calls ncclAllGather") != NULL ||
                    strstr(text, " calls ncclBroadcast") != NULL);
}

static bool start_spoiled(ZeroRun *run) {
    if (check_run(run->check, "run", SECONDS)) {
        return true;
    }
    bool summed = window_is_summed(run);
    if (summed && ranks_asked_alone(run->check)) {
        check_fail(run->check, "one rank asks, and another goes on: all ranks make the call that "
                               "asks whether one has found an inf, whatever they have found "
                               "themselves");
    } else if (summed && update_of_some(run->check)) {
        check_fail(run->check, "some ranks update and others do not, so their calls do not meet: "
                               "where a gradient of any rank is not finite, none of them updates");
    } else {
        ranks_tell_unmet(run->check);
    }
    return false;
}

/* The kit's, and the submission with what the kit was given. */
static bool zero_run_both(ZeroRun *run) {
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

void zero_clip(ZeroRun *run) {
    run->given.max_norm = (float)check_int(run->check, 20, 40) / 100;
}

bool zero_start(ZeroRun *run) {
    draw_batches(run);
    zero_describe(run);
    ranks_give(run->check, run->option, run->budget);
    given_give(&run->given);
    want_of_run(run);
    return zero_run_both(run);
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

/* The NaN of checked memory keeps its bits in squares, sums and the root, the upper ones when a
   half becomes a float; NaN that arithmetic gives, or that is planted, has others. */
static bool norm_is_unwritten(const uint64_t *got) {
    float norm = (float)as_double(got[REPORTED_NORM]);
    uint32_t bits;
    memcpy(&bits, &norm, sizeof bits);
    return bits >> 16 == 0xffff;
}

bool zero_norm_is_scaled(const ZeroRun *run, int s, int r, int power) {
    const uint64_t *got = report_of(run, s, r), *right = run->reports + s * REPORTED;
    double times = as_double(got[REPORTED_NORM]) / as_double(right[REPORTED_NORM]);
    double scale = as_double(right[REPORTED_SCALE]); /* afterwards: perhaps half or twice */
    bool scaled = false;
    for (double factor = 0.5; factor <= 2; factor *= 2) {
        scaled = scaled || fabs(times / pow(factor * scale, power) - 1) < 1e-3;
    }
    return run->option[ZERO_SCALED] && run->option[ZERO_SCALED] != ZERO_SCALED_BY_1 && scaled;
}

static const char *skip_reason(const ZeroRun *run, int s, bool unwritten) {
    if (run->reports[s * REPORTED + REPORTED_SKIPPED]) {
        return "where a gradient of any rank is not finite, none of them updates";
    }
    if (unwritten) {
        return "its norm is NaN, and no gradient of the right ones is";
    }
    if (!run->option[ZERO_SCALED]) {
        return "without a loss scale none is skipped, and report->skipped is written even so";
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
    bool unwritten = got[REPORTED_SKIPPED] && norm_is_unwritten(got);
    check_compared(run->check, false,
                   "step %d: rank %d says that it has %s the update, and all ranks must %s: %s", s,
                   r, got[REPORTED_SKIPPED] ? "skipped" : "made",
                   right[REPORTED_SKIPPED] ? "skip it" : "make it", skip_reason(run, s, unwritten));
    check_suspect(run->check, zero_unwritten_sentence, unwritten);
    return false;
}

/* Before the weights, which a wrong rate makes wrong. */
static bool expect_rate(const ZeroRun *run, int s, int r) {
    const uint64_t *got = report_of(run, s, r), *right = run->reports + s * REPORTED;
    if (!same_double(got[REPORTED_RATE], right[REPORTED_RATE])) {
        double rate = as_double(got[REPORTED_RATE]);
        bool unwritten =
            right[REPORTED_SKIPPED] && (rate == 0 || rate == (double)ZERO_NOT_REPORTED);
        check_fail(run->check,
                   unwritten
                       ? "step %d: rank %d reports a rate of %.9g, and the "
                         "schedule's is %.9g: the report is written where the update is skipped, "
                         "too"
                       : "step %d: rank %d has a rate of %.9g, the schedule says %.9g; the caller "
                         "ticks it, once for each update",
                   s, r, rate, as_double(right[REPORTED_RATE]));
        return false;
    }
    return true;
}

static bool expect_report(const ZeroRun *run, int s, int r) {
    const uint64_t *got = report_of(run, s, r), *right = run->reports + s * REPORTED;
    if (as_double(got[REPORTED_NORM]) == (double)ZERO_NOT_REPORTED) {
        check_fail(run->check,
                   "step %d: rank %d leaves report->grad_norm as it was, %.9g is right: the report "
                   "is written where the update is skipped, too",
                   s, r, as_double(right[REPORTED_NORM]));
    } else if (!same_double(got[REPORTED_NORM], right[REPORTED_NORM]) && norm_is_unwritten(got)) {
        check_compared(run->check, false, "step %d: rank %d says the norm is NaN, %.9g is right", s,
                       r, as_double(right[REPORTED_NORM]));
        check_suspect(run->check, zero_unwritten_sentence, true);
    } else if (zero_norm_is_scaled(run, s, r, 1) || zero_norm_is_scaled(run, s, r, 2)) {
        check_compared(run->check, false, "step %d: rank %d says the norm is %.9g, %.9g is right",
                       s, r, as_double(got[REPORTED_NORM]), as_double(right[REPORTED_NORM]));
        check_suspect(run->check, zero_scaled_sentence, zero_norm_is_scaled(run, s, r, 1));
        check_suspect(run->check, zero_rescaled_sentence, zero_norm_is_scaled(run, s, r, 2));
    } else if (!same_double(got[REPORTED_NORM], right[REPORTED_NORM])) {
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
    } else if (got[REPORTED_UPDATES] != right[REPORTED_UPDATES]) {
        check_fail(run->check,
                   "step %d: the optimizer of rank %d has made %llu updates, %llu are right%s", s,
                   r, (unsigned long long)got[REPORTED_UPDATES],
                   (unsigned long long)right[REPORTED_UPDATES],
                   as_double(right[REPORTED_RATE]) == 0
                       ? ": with a rate of 0 the weights stay, and the moments take the gradient"
                       : "");
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
            !zero_expect_weights(run, s) || !all_ranks(run, s, expect_report)) {
            return false;
        }
    }
    check_good(run->check);
    return true;
}

bool zero_expect_alone(ZeroRun *run) {
    int ranks = run->option[RANKS_COUNT];
    run->option[ZERO_MICROS] *= ranks;
    run->option[RANKS_COUNT] = 1;
    check_give_again(run->check, "ranks", WIRE_I32, run->option, RANK_OPTIONS);
    bool right = zero_run_both(run) && zero_expect_steps(run);
    if (!right) {
        check_tell(
            run->check,
            "\nthis was a run of one rank, which has the batches of all; the run of %d ranks "
            "before it was right",
            ranks);
    }
    return right;
}
