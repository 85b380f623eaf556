/* Windows through stages: what is given, and what came back. The contract is in stages.h. */
#include "grader/labs/13_pipeline/stages.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Not powers of two: a gradient that is scaled in another place has other bits. */
static const float stages_share[MOST_WINDOWS] = {1.0f / 41, 1.0f / 53};

static float *floats_new(Check *check, size_t n) {
    return (float *)check_doubles(check, n / 2 + 1);
}

StagesRun *stages_new(Check *check, PipeOrder order, int stages, int micros, int windows) {
    StagesRun *run = (StagesRun *)check_doubles(check, sizeof *run / sizeof(double) + 1);
    ModelConfig config = {.V = 259, /* with an odd C: numbers that nothing divides */
                          .T = 14,
                          .L = stages + check_int(check, 1, 2),
                          .NH = 3,
                          .C = 15};
    *run = (StagesRun){.check = check,
                       .given = given_new(check, config, "window"),
                       .stages = stages,
                       .micros = micros,
                       .windows = windows};
    run->option[RANKS_COUNT] = stages;
    run->option[PIPES_ORDER] = order;
    run->option[PIPES_MICROS] = micros;
    run->option[PIPES_WINDOWS] = windows;
    run->option[PIPES_SHORT] = windows > 1 ? windows : 0;
    run->option[PIPES_FEWER] = 1;
    run->param_count = params_count(&config);
    run->params = (Param *)check_doubles(
        check, (size_t)run->param_count * sizeof(Param) / sizeof(double) + 1);
    params_describe(run->params, &config);
    run->tied = run->params[WTE].count;
    Given *given = &run->given;
    for (int i = 0; i < micros * windows && i < MOST_BATCHES; i++) {
        int B = check_int(check, 1, 2), T = check_int(check, 7, config.T);
        given->batch[given->batches++] = batch_uneven(check, config.V, B, T);
    }
    if (micros > 2) {
        given->batch[1] = batch_all_masked(given->batch[1]);
    }
    return run;
}

void stages_store(StagesRun *run, Precision precision) {
    run->given.config.precision = precision;
    given_random_weights(&run->given);
}

/* ---- both runs ------------------------------------------------------------------------------- */

static void stages_give(const StagesRun *run) {
    Check *check = run->check;
    int32_t parts[2 * MOST_RANKS];
    for (int s = 0; s < run->stages; s++) {
        int blocks[2];
        plan_blocks(run->given.config.L, run->stages, s, blocks);
        parts[2 * s] = blocks[0];
        parts[2 * s + 1] = blocks[1];
    }
    float share[MOST_WINDOWS];
    memcpy(share, stages_share, sizeof share);
    if (run->last_share_is_0) {
        share[run->windows - 1] = 0;
    }
    given_give(&run->given);
    check_give(check, "parts", WIRE_I32, parts, 2 * (size_t)run->stages);
    check_give(check, "share", WIRE_F32, share, (size_t)run->windows);
    ranks_give(check, run->option, run->budget);
}

static const char *plain_name(char name[WIRE_NAME], const char *what, const char *which, int w) {
    snprintf(name, WIRE_NAME, "%s %s, window %d", what, which, w + 1);
    return name;
}

static void stages_want(const StagesRun *run) {
    Check *check = run->check;
    char name[WIRE_NAME];
    size_t rows = (size_t)run->stages * (size_t)run->windows, R = (size_t)run->stages;
    for (int w = 0; w < run->windows; w++) {
        for (int k = 0; k < 2; k++) {
            const char *what = k == 0 ? "plain" : "reversed";
            check_want(check, plain_name(name, what, "gradients", w), WIRE_F32, run->given.P);
            check_want(check, plain_name(name, what, "half", w), WIRE_F32, run->tied);
        }
    }
    check_want(check, "plain losses", WIRE_U64, (size_t)run->windows);
    check_want(check, "plain each", WIRE_U64, (size_t)(run->windows * run->micros));
    check_want(check, "plain streams", WIRE_U64, (size_t)run->windows);
    check_want(check, "plain eval", WIRE_U64, 1);
    ranks_want(check, run->stages, NAME_STAGE, run->windows, run->given.P);
    if (run->option[PIPES_TIE] >= TIE_NORM) {
        ranks_want(check, run->stages, NAME_NORMED, run->windows, run->given.P);
        check_want(check, "plain norms", WIRE_U64, (size_t)run->windows * NORM_WAYS * NORM_TIMES);
        check_want(check, "norms", WIRE_U64, rows * NORM_TIMES);
    }
    check_want(check, "losses", WIRE_U64, rows);
    check_want(check, "streams", WIRE_U64, rows);
    check_want(check, "evals", WIRE_U64, R);
    check_want(check, "left", WIRE_U64, R);
    check_want(check, "heap", WIRE_U64, R);
    check_want(check, "other bytes", WIRE_U64, R);
    check_want(check, "after", WIRE_U64, R);
    ranks_want_bytes(check, run->stages);
}

static float *stages_keep(const StagesRun *run, const char *what, const char *which, int w,
                          size_t n) {
    char name[WIRE_NAME];
    float *kept = floats_new(run->check, n);
    memcpy(kept, check_got(run->check, plain_name(name, what, which, w), WIRE_F32), 4 * n);
    return kept;
}

static void keep_plain(StagesRun *run, bool on_gpu) {
    size_t bytes = (size_t)run->windows * sizeof *run->loss;
    memcpy(run->loss, check_got(run->check, "plain losses", WIRE_U64), bytes);
    memcpy(run->each, check_got(run->check, "plain each", WIRE_U64), (size_t)run->micros * bytes);
    memcpy(run->stream, check_got(run->check, "plain streams", WIRE_U64), bytes);
    run->eval = *(const uint64_t *)check_got(run->check, "plain eval", WIRE_U64);
    for (int w = 0; w < run->windows; w++) {
        run->plain[w] = stages_keep(run, "plain", "gradients", w, run->given.P);
        run->head[w] = stages_keep(run, "plain", "half", w, run->tied);
    }
    if (run->option[PIPES_TIE] >= TIE_NORM) {
        size_t count = (size_t)run->windows * NORM_WAYS * NORM_TIMES;
        run->norm_times = norm_times(on_gpu);
        run->norms = check_doubles(run->check, count);
        memcpy(run->norms, check_got(run->check, "plain norms", WIRE_U64),
               count * sizeof *run->norms);
    }
}

static void keep_falling(StagesRun *run) {
    for (int w = 0; w < run->windows; w++) {
        run->falling[w] = stages_keep(run, "reversed", "gradients", w, run->given.P);
        run->falling_head[w] = stages_keep(run, "reversed", "half", w, run->tied);
    }
}

bool stages_run(StagesRun *run) {
    stages_give(run);
    stages_want(run);
    if (!check_run_kit(run->check, "plain", SECONDS)) {
        return false;
    }
    keep_plain(run, run->option[RANKS_GPU]);
    keep_falling(run);
    return ranks_start(run->check, "windows", SECONDS);
}

static bool run_on_gpu(StagesRun *run) {
    if (!check_run_kit(run->check, "plain_on_gpu", SECONDS)) {
        return false;
    }
    keep_plain(run, true);
    return ranks_start(run->check, "windows_on_gpu", SECONDS);
}

bool stages_also_on_gpu(StagesRun *run, bool expect(const StagesRun *run)) {
    bool right = run_on_gpu(run) && expect(run);
    if (!right) {
        check_tell(run->check,
                   "\nthis was a run on the simulated GPU; the same run on the CPU came "
                   "before it, and was right");
    }
    return right;
}

/* ---- gradients ------------------------------------------------------------------------------- */

bool stages_has(const StagesRun *run, int s, int i) {
    int blocks[2], layer = run->params[i].layer;
    plan_blocks(run->given.config.L, run->stages, s, blocks);
    if (layer >= 0) {
        return blocks[0] <= layer && layer < blocks[1];
    }
    return (s == 0 && (i == WTE || i == WPE)) || (s == run->stages - 1 && i != WPE);
}

/* A mistake that a gradient may show, or none. */
typedef enum StagesTwist {
    TWIST_NONE,
    TWIST_FALLING,
    TWIST_DIVIDED,
    TWIST_MULTIPLIED,
    TWIST_SHARED,   /* divided by the stages */
    TWIST_EARLY,    /* of the tied weight alone, where tie_sum() is not to be called */
    TWIST_UNSUMMED, /* from here on: where it is called */
    TWIST_DOUBLED,
    TWIST_HALVED,
    TWIST_FIRST_ALONE,
    TWIST_LAST_ALONE,
    TWISTS,
} StagesTwist;

static const char *const twist_sentence[TWISTS] = {
    [TWIST_FALLING] = "backwards run in falling order: the last micro-batch's gradient is added "
                      "first, and a sum of floats has other bits then",
    [TWIST_DIVIDED] = "gradients are divided by the number of micro-batches: `share` is that of a "
                      "target of the whole window already",
    [TWIST_MULTIPLIED] = "gradients are as many times too large as the window has micro-batches",
    [TWIST_SHARED] = "gradients are divided by the number of stages: each stage has the whole "
                     "gradient of its own part",
    [TWIST_EARLY] = "the tied gradient is the sum of both halves when pipe_window() returns: "
                    "tie_sum() makes it that, and the caller calls tie_sum()",
    [TWIST_UNSUMMED] = "each end of the pipeline keeps its own half of the tied gradient: both "
                       "need the sum, and the host waits until it is there",
    [TWIST_DOUBLED] = "the tied gradient is summed twice",
    [TWIST_HALVED] = "the tied gradient is the mean of its halves: it is their sum",
    [TWIST_FIRST_ALONE] = "the sum of the tied gradient is on the first stage alone: the last one "
                          "needs it too",
    [TWIST_LAST_ALONE] = "the sum of the tied gradient is on the last stage alone: the first one "
                         "needs it too",
};

static float tied_of(const StagesRun *run, int s, int w, size_t k, StagesTwist twist) {
    bool falling = twist == TWIST_FALLING;
    float embedding = falling ? run->falling[w][k] : run->plain[w][k];
    float head = falling ? run->falling_head[w][k] : run->head[w][k];
    bool summed =
        twist == TWIST_EARLY || (run->option[PIPES_TIE] >= TIE_SUM && twist != TWIST_UNSUMMED &&
                                 twist != (s == 0 ? TWIST_LAST_ALONE : TWIST_FIRST_ALONE));
    if (run->stages == 1) {
        return embedding;
    }
    if (!summed) {
        return s == 0 ? embedding : head;
    }
    float sum = embedding + head;
    return twist == TWIST_DOUBLED ? 2 * sum : twist == TWIST_HALVED ? sum / 2 : sum;
}

static float number_of(const StagesRun *run, int s, int w, size_t k, StagesTwist twist) {
    float value = k < run->tied            ? tied_of(run, s, w, k, twist)
                  : twist == TWIST_FALLING ? run->falling[w][k]
                                           : run->plain[w][k];
    float micros = (float)window_micros(run->option, w);
    return twist == TWIST_DIVIDED      ? value / micros
           : twist == TWIST_MULTIPLIED ? value * micros
           : twist == TWIST_SHARED     ? value / (float)run->stages
                                       : value;
}

/* How a number differs from what it should be. */
typedef struct StagesPlace {
    int stage, window, param;
    size_t index;
    float got, wanted;
} StagesPlace;

static bool equal(float got, float wanted, bool nearly) {
    if (!nearly) {
        return memcmp(&got, &wanted, sizeof got) == 0;
    }
    return fabs((double)got - (double)wanted) <= 1e-6 + 1e-4 * fabs((double)wanted);
}

/* Whether all that came back is what a mistake makes of it; else where it is not. Divided and
   multiplied ones have been rounded somewhere else: they are nearly so. */
static bool fits(const StagesRun *run, StagesTwist twist, StagesPlace *place) {
    bool nearly = twist == TWIST_DIVIDED || twist == TWIST_MULTIPLIED || twist == TWIST_SHARED;
    for (int at = 0; at < run->stages * run->windows * run->param_count; at++) {
        int i = at % run->param_count, w = at / run->param_count % run->windows;
        int s = at / run->param_count / run->windows;
        const float *got = ranks_got(run->check, NAME_STAGE, s, w);
        size_t first = 0;
        for (int k = 0; k < i; k++) {
            first += run->params[k].count;
        }
        for (size_t k = first; stages_has(run, s, i) && k < first + run->params[i].count; k++) {
            float wanted = number_of(run, s, w, k, twist);
            if (!equal(got[k], wanted, nearly)) {
                *place = (StagesPlace){s, w, i, k - first, got[k], wanted};
                return false;
            }
        }
    }
    return true;
}

float stages_gradient(const StagesRun *run, int w, size_t k) {
    return number_of(run, 0, w, k, TWIST_NONE);
}

/* The right number is that of one device, but for the tied gradient, which stages add up as two
   halves. */
static const char *source_of(const StagesRun *run, const StagesPlace *place) {
    if (place->param != WTE || run->stages == 1) {
        return "one device that runs the micro-batches one after the other has";
    }
    return run->option[PIPES_TIE] >= TIE_SUM ? "the sum of both halves is"
           : place->stage == 0               ? "the embedding's half of it is"
                                             : "the head's half of it is";
}

static bool twist_possible(const StagesRun *run, StagesTwist twist) {
    bool called = run->option[PIPES_TIE] >= TIE_SUM;
    return twist == TWIST_SHARED  ? run->stages > 1
           : twist < TWIST_EARLY  ? run->micros > 1
           : twist == TWIST_EARLY ? !called && run->stages > 1
                                  : called;
}

bool stages_expect_gradients(const StagesRun *run) {
    StagesPlace place = {0}, elsewhere;
    char name[WIRE_NAME];
    bool right = fits(run, TWIST_NONE, &place);
    check_compared(run->check, right,
                   "gradient of %s[%zu], stage %d of %d, window %d: got %.9g, %s %.9g, to the bit",
                   param_scope(name, &run->params[place.param]), place.index, place.stage,
                   run->stages, place.window + 1, (double)place.got, source_of(run, &place),
                   (double)place.wanted);
    for (int t = TWIST_FALLING; t < TWISTS && !right; t++) {
        StagesTwist twist = (StagesTwist)t;
        check_suspect(run->check, twist_sentence[t],
                      twist_possible(run, twist) && fits(run, twist, &elsewhere));
    }
    return right;
}
