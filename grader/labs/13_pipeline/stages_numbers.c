/* Numbers that each stage gives back: losses, masks drawn, bytes left, norms. The contract is in
   stages.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grader/labs/13_pipeline/stages.h"

/* ---- numbers of each rank -------------------------------------------------------------------- */

static double double_of(const StagesRun *run, const char *table, int s, int w) {
    double value;
    const uint64_t *row = check_got(run->check, table, WIRE_U64);
    memcpy(&value, &row[s * run->windows + w], sizeof value);
    return value;
}

static double double_from(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Whether it is the loss of one micro-batch of a window. */
static bool is_of_one(const StagesRun *run, int w, double loss) {
    for (int i = 0; i < window_micros(run->option, w); i++) {
        if (loss == double_from(run->each[w * run->micros + i])) {
            return run->micros > 1;
        }
    }
    return false;
}

static int valid_in(const StagesRun *run, int w) {
    int valid = 0;
    for (int i = 0; i < window_micros(run->option, w); i++) {
        valid += run->given.batch[(w * run->micros + i) % run->given.batches].valid;
    }
    return valid;
}

typedef enum StagesLossMistake {
    MEAN_OF_MICROS,
    MEAN_OF_TARGETS,
    IN_FLOAT,
    OF_ONE
} StagesLossMistake;

static bool near_by(double a, double b, double least) {
    return fabs(a - b) <= least * b;
}

static double right_loss(const StagesRun *run, int s, int w) {
    return s == run->stages - 1 ? double_from(run->loss[w]) : 0;
}

/* Whether a mistake gives what a stage has for each window, those that are right included. */
static bool loss_is_by(const StagesRun *run, int s, StagesLossMistake mistake) {
    for (int w = 0; w < run->windows; w++) {
        double got = double_of(run, "losses", s, w), right = right_loss(run, s, w);
        int micros = window_micros(run->option, w), valid = valid_in(run, w);
        bool gives = mistake == MEAN_OF_MICROS    ? near_by(got * micros, right, 1e-9)
                     : mistake == MEAN_OF_TARGETS ? near_by(got * valid, right, 1e-9)
                     : mistake == IN_FLOAT        ? near_by(got, right, 1e-6)
                                                  : is_of_one(run, w, got);
        if (!gives) {
            return false;
        }
    }
    return true;
}

bool stages_expect_losses(const StagesRun *run) {
    for (int at = 0; at < run->stages * run->windows; at++) {
        int s = at / run->windows, w = at % run->windows;
        double got = double_of(run, "losses", s, w);
        double right = right_loss(run, s, w);
        if (memcmp(&got, &right, sizeof got) != 0) {
            check_compared(run->check, false,
                           "stage %d of %d, window %d: the loss is %.9g, and %.9g is right", s,
                           run->stages, w + 1, got, right);
            check_suspect(run->check,
                          "the loss is a mean over micro-batches: it is the sum of their losses",
                          run->micros > 1 && loss_is_by(run, s, MEAN_OF_MICROS));
            check_suspect(run->check, "the loss is a mean over targets: it is the sum of theirs",
                          loss_is_by(run, s, MEAN_OF_TARGETS));
            check_suspect(run->check,
                          "the loss is rounded to a float on its way: it is a double, and so are "
                          "those that are added",
                          loss_is_by(run, s, IN_FLOAT) && !near_by(got, right, 1e-12));
            check_suspect(run->check, "the loss is that of a single micro-batch",
                          got > 0 && loss_is_by(run, s, OF_ONE));
            return false;
        }
    }
    check_good(run->check);
    return true;
}

bool stages_expect_streams(const StagesRun *run) {
    const uint64_t *got = check_got(run->check, "streams", WIRE_U64);
    for (int at = 0; at < run->stages * run->windows; at++) {
        int s = at / run->windows, w = at % run->windows;
        if (got[at] != run->stream[w]) {
            check_fail(run->check,
                       "stage %d of %d has drawn masks up to %llu after window %d, one device up "
                       "to %llu: each micro-batch has one mask for the embedding and two for each "
                       "block of the whole model, and a stage skips those of the others",
                       s, run->stages, (unsigned long long)got[at], w + 1,
                       (unsigned long long)run->stream[w]);
            return false;
        }
    }
    check_good(run->check);
    return true;
}

/* Windows, or evaluations, that are repeated give back what they take of the heap of the host: a
   pass has some 2000 bytes there. The simulator keeps 140 of each event, and other ranks may be in
   the middle of one. */
static bool expect_heap_back(const StagesRun *run) {
    enum { OF_EACH = 1500, OF_OTHERS = 20 << 10 };
    const uint64_t *more = check_got(run->check, "heap", WIRE_U64);
    int times = run->option[PIPES_REPEATED];
    for (int s = 0; s < run->stages; s++) {
        if (more[s] > (uint64_t)(times * OF_EACH + OF_OTHERS)) {
            check_fail(run->check,
                       "stage %d of %d: after %d %s more %llu bytes of host memory are in use: "
                       "pass_free() gives back what pass_new() has allocated",
                       s, run->stages, times,
                       run->option[PIPES_EVALUATE] ? "evaluations" : "windows",
                       (unsigned long long)more[s]);
            return false;
        }
    }
    return true;
}

bool stages_expect_nothing_left(const StagesRun *run) {
    const uint64_t *left = check_got(run->check, "left", WIRE_U64);
    for (int s = 0; s < run->stages; s++) {
        if (left[s] != 0) {
            check_fail(run->check,
                       "%llu bytes are left on stage %d of %d: what is allocated for a "
                       "window%s is released with it",
                       (unsigned long long)left[s], s, run->stages,
                       run->option[PIPES_TIE] >= TIE_NORM ? " or by tie_norm()"
                       : run->option[PIPES_EVALUATE]      ? " or an evaluation"
                                                          : "");
            return false;
        }
    }
    if (!expect_heap_back(run)) {
        return false;
    }
    check_good(run->check);
    return true;
}

bool stages_expect_eval(const StagesRun *run) {
    const uint64_t *got = check_got(run->check, "evals", WIRE_U64);
    const uint64_t *after = check_got(run->check, "after", WIRE_U64);
    const uint64_t *streams = check_got(run->check, "streams", WIRE_U64);
    for (int s = 0; s < run->stages; s++) {
        uint64_t right = s == run->stages - 1 ? run->eval : 0;
        uint64_t before = streams[s * run->windows + run->windows - 1]; /* right or not */
        if (after[s] != before) {
            check_fail(run->check,
                       "stage %d of %d: masks are drawn up to %llu, and before up to %llu: an "
                       "evaluation draws none",
                       s, run->stages, (unsigned long long)after[s], (unsigned long long)before);
            return false;
        }
        if (got[s] != right) {
            check_fail(run->check, "stage %d of %d: the loss is %.9g, %.9g is right", s,
                       run->stages, double_from(got[s]), double_from(right));
            return false;
        }
    }
    check_good(run->check);
    return true;
}

/* ---- the norm -------------------------------------------------------------------------------- */

/* The sum of squares of what a stage has, or stage -1: of all, the tied weight counted once. */
static double squares(const StagesRun *run, int stage, int w) {
    double sum = 0;
    size_t at = 0;
    for (int i = 0; i < run->param_count; at += run->params[i++].count) {
        for (size_t k = at; k < at + run->params[i].count; k++) {
            double x = (double)stages_gradient(run, w, k);
            sum += stage < 0 || stages_has(run, stage, i) ? x * x : 0;
        }
    }
    return sum;
}

static bool nearly_equal(double got, double want) {
    return fabs(got - want) <= 1e-5 * fabs(want);
}

/* Norm k of a window on a stage. */
static double stage_norm_got(const StagesRun *run, int s, int w, int k) {
    double value;
    const uint64_t *row = check_got(run->check, "norms", WIRE_U64);
    memcpy(&value, &row[(s * run->windows + w) * NORM_TIMES + k], sizeof value);
    return value;
}

/* By a way of the kit's, on every stage. */
static double norm_want(const StagesRun *run, NormWay way, int w, int k) {
    return run->norms[(w * NORM_WAYS + way) * NORM_TIMES + k];
}

/* A norm that is not what it should be. */
typedef struct StageNormPlace {
    int stage, window, time;
    double got, want;
} StageNormPlace;

/* Whether all norms have the bits of a way; else where the first one has not. */
static bool norms_fit(const StagesRun *run, NormWay way, StageNormPlace *place) {
    int each = run->stages * run->windows;
    for (int at = 0; at < each * run->norm_times; at++) {
        int k = at / each, s = at % each / run->windows, w = at % run->windows;
        double got = stage_norm_got(run, s, w, k), want = norm_want(run, way, w, k);
        if (memcmp(&got, &want, sizeof got) != 0) {
            *place = (StageNormPlace){s, w, k, got, want};
            return false;
        }
    }
    return true;
}

/* How many stages have the right norm, where each of the others has that of its own gradients; the
   last one's may be without the tied weight. -1 where one has neither. */
static int norms_right_or_own(const StagesRun *run, int w, double want, double tied) {
    int right = 0;
    for (int s = 0; s < run->stages; s++) {
        double got = stage_norm_got(run, s, w, 0), own = squares(run, s, w);
        bool less = s == run->stages - 1 && nearly_equal(got, sqrt(own - tied));
        if (nearly_equal(got, want)) {
            right++;
        } else if (!nearly_equal(got, sqrt(own)) && !less) {
            return -1;
        }
    }
    return right;
}

/* Mistakes that change the bits alone. */
static void suspect_bits(const StagesRun *run) {
    static const char *const sentence[NORM_WAYS] = {
        [NORM_FALLING] = "the sums of the stages are added from the last stage to the first: as "
                         "floats they have other bits than in the order of stages",
        [NORM_IN_DOUBLE] = "the sums of the stages are added in double: each is a float, and they "
                           "are added as floats",
        [NORM_TIED_ON_LAST] = "the tied gradient is counted on the last stage: it is counted on "
                              "the first one",
    };
    StageNormPlace elsewhere;
    for (int way = NORM_FALLING; way < NORM_WAYS; way++) {
        check_suspect(run->check, sentence[way],
                      run->stages > 1 && norms_fit(run, (NormWay)way, &elsewhere));
    }
}

/* Mistakes that any of the norms shows: the gradients of the first one are here. */
static void suspect_sums(const StagesRun *run, const StageNormPlace *place) {
    int w = place->window;
    double all = squares(run, -1, w), tied = 0, got = stage_norm_got(run, place->stage, w, 0);
    for (size_t k = 0; k < run->tied; k++) {
        double x = (double)stages_gradient(run, w, k);
        tied += x * x;
    }
    int right = norms_right_or_own(run, w, sqrt(all), tied);
    check_suspect(run->check, "the tied gradient is counted on both ends: it is one gradient",
                  nearly_equal(got, sqrt(all + tied)));
    check_suspect(run->check,
                  "the norm is that of the stage: the sums of squares of all "
                  "stages have to be added before the root is taken, and on the CPU the host "
                  "waits for their sum",
                  right == 0);
    check_suspect(run->check, "the sum of all stages is on one stage alone: every stage needs it",
                  run->stages > 1 && right == 1);
    check_suspect(run->check, "the root is missing: this is the sum of squares",
                  nearly_equal(got, all));
}

/* After which number of a window, and times what its gradients are. */
static const char *norm_scope(const StageNormPlace *place, char text[CHECK_LABEL]) {
    int length = snprintf(text, CHECK_LABEL, "window %d", place->window + 1);
    if (place->time > 0) {
        snprintf(text + length, CHECK_LABEL - (size_t)length, ", all gradients times %.4g",
                 pow((double)NORM_SCALE, place->time));
    }
    return text;
}

static void tell_norm(const StagesRun *run, const StageNormPlace *place) {
    char scope[CHECK_LABEL];
    norm_scope(place, scope);
    double first = stage_norm_got(run, 0, place->window, place->time);
    if (run->stages == 1) {
        check_compared(run->check, false,
                       "%s: the norm is %.9g, and %.9g by model_grad_norm(): in a pipeline of one "
                       "they have the same bits",
                       scope, place->got, place->want);
    } else if (place->stage > 0 && nearly_equal(place->got, place->want) && first == place->want) {
        check_compared(run->check, false,
                       "stage %d of %d, %s: the norm is %.9g, and %.9g on stage 0: every stage has "
                       "the same bits",
                       place->stage, run->stages, scope, place->got, first);
    } else {
        check_compared(run->check, false,
                       "stage %d of %d, %s: the norm is %.9g, of the whole model it is %.9g, to "
                       "the bit",
                       place->stage, run->stages, scope, place->got, place->want);
    }
}

/* The gradients of all stages are those of before the norm. */
static bool expect_read(const StagesRun *run) {
    for (int at = 0; at < run->stages * run->windows; at++) {
        int s = at / run->windows, w = at % run->windows;
        const float *before = ranks_got(run->check, NAME_STAGE, s, w);
        const float *after = ranks_got(run->check, NAME_NORMED, s, w);
        for (int i = 0; i < run->param_count; i++) {
            size_t count = run->params[i].count;
            char name[WIRE_NAME];
            if (memcmp(before, after, count * sizeof *before) != 0) {
                check_fail(run->check,
                           "tie_norm() changes the gradient of %s on stage %d of %d: the norm only "
                           "reads",
                           param_scope(name, &run->params[i]), s, run->stages);
                return false;
            }
            before += count;
            after += count;
        }
    }
    return true;
}

bool stages_expect_norms(const StagesRun *run) {
    StageNormPlace place;
    if (norms_fit(run, NORM_RIGHT, &place)) {
        return check_compared(run->check, true, "%s", "") && expect_read(run);
    }
    tell_norm(run, &place);
    suspect_bits(run);
    suspect_sums(run, &place);
    return false;
}
