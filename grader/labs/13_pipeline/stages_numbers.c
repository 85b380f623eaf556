/* Numbers that each stage gives back: losses, masks drawn, bytes left, norms. The contract is in
   stages.h. */
#include <math.h>
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
    for (int i = 0; i < window_micros(run->micros, w); i++) {
        if (loss > 0 && loss == double_from(run->each[w * run->micros + i])) {
            return run->micros > 1;
        }
    }
    return false;
}

static int valid_in(const StagesRun *run, int w) {
    int valid = 0;
    for (int i = 0; i < window_micros(run->micros, w); i++) {
        valid += run->given.batch[(w * run->micros + i) % run->given.batches].valid;
    }
    return valid;
}

bool stages_expect_losses(const StagesRun *run) {
    for (int at = 0; at < run->stages * run->windows; at++) {
        int s = at / run->windows, w = at % run->windows;
        double got = double_of(run, "losses", s, w);
        double right = s == run->stages - 1 ? double_from(run->loss[w]) : 0;
        if (memcmp(&got, &right, sizeof got) != 0) {
            check_compared(run->check, false,
                           "stage %d of %d, window %d: the loss is %.9g, not %.9g", s, run->stages,
                           w + 1, got, right);
            check_suspect(run->check,
                          "the loss is a mean over micro-batches: it is the sum of their losses",
                          run->micros > 1 &&
                              fabs(got * window_micros(run->micros, w) - right) <= 1e-9 * right);
            check_suspect(run->check, "the loss is a mean over targets: it is the sum of theirs",
                          fabs(got * valid_in(run, w) - right) <= 1e-9 * right);
            check_suspect(run->check, "the loss is that of a single micro-batch",
                          is_of_one(run, w, got));
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

bool stages_expect_nothing_left(const StagesRun *run) {
    const uint64_t *left = check_got(run->check, "left", WIRE_U64);
    for (int s = 0; s < run->stages; s++) {
        if (left[s] != 0) {
            check_fail(run->check,
                       "%llu bytes are left on stage %d of %d: what is allocated for a "
                       "window%s is released with it",
                       (unsigned long long)left[s], s, run->stages,
                       run->option[PIPES_EVALUATE] ? " or an evaluation" : "");
            return false;
        }
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

/* Whether each stage whose norm is wrong has that of its own gradients; the last one's may be
   without the tied weight. */
static bool norms_are_own(const StagesRun *run, int w, double want, double tied) {
    for (int s = 0; s < run->stages; s++) {
        double got = double_of(run, "norms", s, w), own = squares(run, s, w);
        bool less = s == run->stages - 1 && nearly_equal(got, sqrt(own - tied));
        if (!nearly_equal(got, want) && !nearly_equal(got, sqrt(own)) && !less) {
            return false;
        }
    }
    return true;
}

/* A pipeline of one. */
static bool expect_same_norm(const StagesRun *run) {
    for (int w = 0; w < run->windows; w++) {
        double got = double_of(run, "norms", 0, w), want = double_from(run->norm[w]);
        if (!check_compared(run->check, memcmp(&got, &want, sizeof got) == 0,
                            "window %d: the norm is %.9g, and %.9g by model_grad_norm(): in a "
                            "pipeline of one they have the same bits",
                            w + 1, got, want)) {
            return false;
        }
    }
    return true;
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
    for (int at = 0; at < run->stages * run->windows; at++) {
        int s = at / run->windows, w = at % run->windows;
        double got = double_of(run, "norms", s, w), first = double_of(run, "norms", 0, w);
        double all = squares(run, -1, w), want = sqrt(all), tied = 0;
        for (size_t k = 0; k < run->tied; k++) {
            double x = (double)stages_gradient(run, w, k);
            tied += x * x;
        }
        if (nearly_equal(got, want) && nearly_equal(first, want)) {
            if (!check_compared(run->check, memcmp(&got, &first, sizeof got) == 0,
                                "stage %d of %d, window %d: the norm is %.9g, and %.9g on stage 0: "
                                "every stage has the same bits",
                                s, run->stages, w + 1, got, first)) {
                return false;
            }
            continue;
        }
        check_compared(run->check, false,
                       "stage %d of %d, window %d: the norm is %.9g, of the whole model it is %.9g",
                       s, run->stages, w + 1, got, want);
        check_suspect(run->check, "the tied gradient is counted on both ends: it is one gradient",
                      nearly_equal(got, sqrt(all + tied)));
        check_suspect(run->check,
                      "the norm is that of the stage: the sums of squares of all "
                      "stages have to be added before the root is taken",
                      norms_are_own(run, w, want, tied));
        check_suspect(run->check, "the root is missing: this is the sum of squares",
                      nearly_equal(got, all));
        return false;
    }
    bool same =
        run->stages > 1 ? check_compared(run->check, true, "%s", "") : expect_same_norm(run);
    return same && expect_read(run);
}
