#include <stdio.h>
#include <string.h>

#include "grader/labs/09_fusion/compare.h"
#include "kernels/cost.h"

/* In the order in which each is made of those before: of a wrong mean all that follows is wrong. */
static const char *const forward_out[] = {"sum", "mean", "rstd", "out"};
static const char *const backward_out[] = {"dsum after", "dbranch after", "dweight after",
                                           "dbias after"};

/* The sentence for each NormMistake. */
static const char *const sentences[NORM_ALL] = {
    [NORM_NO_MASK] =
        "the branch has no dropout: both ops have the mask that is given, add_masked() "
        "applies it",
    [NORM_NO_BASE] = "the mask's base is forgotten: its place in the stream is base[0] + offset, "
                     "which mask_words() adds up",
    [NORM_OF_STREAM] = "the norm is that of the stream: it is of the sum, branch included",
    [BACK_BRANCH_FIRST] = "the branch's gradient is made of dsum as it was: it comes after the "
                          "norm's part is added",
    [BACK_REPLACED] =
        "dbranch is replaced where += is meant: only in place there is nothing to add "
        "to",
    [BACK_AFTER_REPLACED] =
        "the sums for dweight and dbias read dout after dbranch took its place: "
        "they come first",
    [BACK_ADDED_IN_PLACE] = "in place dout is added to what takes its place: there dbranch is "
                            "written, not added to",
    [BACK_PARAMETERS_REPLACED] = "dweight and dbias are replaced where += is meant",
    [BACK_DSUM_REPLACED] = "dsum is replaced where += is meant: the stream's own gradient is in it",
};

static void give(NormCalls *calls, const char *what, size_t n, Precision precision, double scale) {
    char name[WIRE_NAME];
    fusion_name(name, what, calls->count);
    check_give(calls->check, name, WIRE_F32, check_normal(calls->check, n, scale, precision), n);
}

static void want(NormCalls *calls, const char *what, size_t n) {
    char name[WIRE_NAME];
    check_want(calls->check, fusion_name(name, what, calls->count), WIRE_F32, n);
}

/* Numbers of output k of a call. */
static size_t norm_numbers(const NormCase *c, bool backward, int k) {
    size_t N = (size_t)c->N, C = (size_t)c->C;
    if (backward) {
        return k < 2 ? N * C : C;
    }
    return k == 0 || k == 3 ? N * C : N;
}

void norm_add(NormCalls *calls, NormCase c) {
    CHECK(calls->count < NORM_CASES, "more than %d calls", NORM_CASES);
    Precision precision = (Precision)c.precision;
    size_t N = (size_t)c.N, C = (size_t)c.C, n = N * C;
    c.seed = (uint64_t)check_int(calls->check, 1, 1 << 30);
    c.offset = (uint64_t)check_int(calls->check, 10, 1 << 30) << (calls->count % 2 ? 12 : 0);
    give(calls, "weight", C, precision, 1);
    if (calls->backward) {
        give(calls, "dsum", n, precision, 1);
        give(calls, "dout", n, precision, 1);
        give(calls, "dbranch", n, precision, 1);
        give(calls, "sum", n, precision, 1);
        give(calls, "mean", N, F32, 0.1);
        give(calls, "rstd", N, F32, 1);
        give(calls, "dweight", C, F32, 1);
        give(calls, "dbias", C, F32, 1);
    } else {
        give(calls, "stream", n, precision, 1);
        give(calls, "branch", n, precision, 1);
        give(calls, "bias", C, precision, 1);
    }
    for (int k = 0; k < 4; k++) {
        want(calls, calls->backward ? backward_out[k] : forward_out[k],
             norm_numbers(&c, calls->backward, k));
    }
    calls->c[calls->count++] = c;
}

/* Of kernels/residual_norm.h. */
enum { MOST_CHANNELS = 12288 };

NormCalls norm_all(Check *check, bool backward) {
    /* 28 channels are whole packs of floats, and not of halves */
    static const int shape[][2] = {{31, 33}, {1, 257}, {33, 28}, {70, 264}, {3, 1}, {9, 1030}};
    NormCalls calls = {.check = check, .backward = backward};
    int places = backward ? NORM_IN_STREAM : NORM_PLACES;
    for (int i = 0; i < 18; i++) {
        norm_add(&calls, (NormCase){.precision = i / 6,
                                    .N = shape[i % 6][0],
                                    .C = shape[i % 6][1],
                                    .in_place = (i + i / 6) % places,
                                    .p = i % 3 == 0 ? 0 : 0.3f,
                                    .based = i % 3 == 2});
    }
    norm_add(&calls, (NormCase){.precision = check_int(check, F32, BF16),
                                .N = check_int(check, 2, 60),
                                .C = check_int(check, 2, 600),
                                .p = 0.5f,
                                .based = true});
    norm_add(&calls, (NormCase){.precision = check_int(check, F32, BF16), .N = 9, .C = 1600});
    if (!backward) { /* the most channels: a row takes all of a block's shared memory */
        norm_add(&calls,
                 (NormCase){.precision = check_int(check, F32, BF16), .N = 2, .C = MOST_CHANNELS});
    }
    norm_add(&calls, (NormCase){.N = 0, .C = 8});
    return calls;
}

NormCalls norm_few(Check *check, bool backward) {
    NormCalls calls = {.check = check, .backward = backward};
    for (int i = 0; i < 4; i++) {
        norm_add(&calls, (NormCase){.precision = i % 3,
                                    .N = check_int(check, 30, 70),
                                    .C = i % 2 == 0 ? 264 : 2 * check_int(check, 15, 150),
                                    .in_place = i % 2,
                                    .p = 0.3f});
    }
    norm_add(&calls, (NormCase){.precision = F32, .N = 9, .C = 1600}); /* GPT-2 XL */
    if (!backward) {
        norm_add(&calls, (NormCase){.precision = F32, .N = 2, .C = MOST_CHANNELS});
    }
    return calls;
}

void launches_grade(Check *check, const char *probe_case, int rows, int numbers) {
    char size[80];
    snprintf(size, sizeof size, "%d rows of %d numbers", rows, numbers);
    check_give(check, "many", WIRE_I32, (int32_t[]){rows, numbers}, 2);
    profile_expect_launches(check, probe_case, RUN_SECONDS, size);
}

/* ---- comparing ------------------------------------------------------------------------------- */

static const float *norm_got(const NormCalls *calls, int i, int k) {
    char name[WIRE_NAME];
    const char *what = calls->backward ? backward_out[k] : forward_out[k];
    return check_got(calls->check, fusion_name(name, what, i), WIRE_F32);
}

/* All numbers that came back, end to end; freed with the check. */
static float *norm_copy(const NormCalls *calls, size_t *count) {
    *count = 0;
    for (int i = 0; i < calls->count; i++) {
        for (int k = 0; k < 4; k++) {
            *count += norm_numbers(&calls->c[i], calls->backward, k);
        }
    }
    float *all = (float *)check_doubles(calls->check, *count), *to = all;
    for (int i = 0; i < calls->count; i++) {
        for (int k = 0; k < 4; k++) {
            size_t n = norm_numbers(&calls->c[i], calls->backward, k);
            if (n > 0) {
                memcpy(to, norm_got(calls, i, k), n * sizeof *to);
            }
            to += n;
        }
    }
    return all;
}

/* Where the first difference is, in words. */
static void norm_tell(const NormCalls *calls, const float *got, const float *right, char *text,
                      size_t size) {
    static const char *const places[NORM_PLACES] = {"", ", in place", ", in the stream's place"};
    for (int i = 0; i < calls->count; i++) {
        const NormCase *c = &calls->c[i];
        for (int k = 0; k < 4; k++) {
            size_t n = norm_numbers(c, calls->backward, k), at = 0;
            while (at < n && memcmp(&got[at], &right[at], sizeof *got) == 0) {
                at++;
            }
            if (at < n) {
                snprintf(text, size,
                         "%s of (%d, %d) in %s%s: number %zu is %.9g, and %.9g where the two ops "
                         "run one after the other",
                         calls->backward ? backward_out[k] : forward_out[k], c->N, c->C,
                         precision_name((Precision)c->precision), places[c->in_place], at,
                         (double)got[at], (double)right[at]);
                return;
            }
            got += n;
            right += n;
        }
    }
}

static void norm_case(const NormCalls *calls, int mistake, char name[40]) {
    snprintf(name, 40, "%s %d", calls->backward ? "norm_backward" : "norm_forward", mistake);
}

static bool norm_is_known(const NormCalls *calls, int mistake) {
    bool both = mistake == NORM_NO_MASK || mistake == NORM_NO_BASE;
    return sentences[mistake] != NULL && (both || (mistake >= NORM_MISTAKES) == calls->backward);
}

static void norm_planned(NormCalls *calls) {
    check_give(calls->check, "cases", WIRE_BYTES, calls->c,
               (size_t)calls->count * sizeof calls->c[0]);
    check_want(calls->check, "traffic", WIRE_U64, (size_t)calls->count);
    profile_want(calls->check);
    check_memory(calls->check, 0);
}

/* The fewest bytes that all calls can move. */
static double norm_bytes(const NormCalls *calls) {
    double bytes = 0;
    for (int i = 0; i < calls->count; i++) {
        const NormCase *c = &calls->c[i];
        double N = c->N, C = c->C, r = (double)precision_bytes((Precision)c->precision);
        bytes += calls->backward ? residual_norm_backward_cost(N, C, c->in_place, r).bytes
                                 : residual_norm_forward_cost(N, C, r).bytes;
    }
    return bytes;
}

/* The right numbers are the kit's, which come of a run of their own: how the work was shared is
   asked before. */
static bool norm_run(NormCalls *calls, ProfileShares shares) {
    return check_run(calls->check, calls->backward ? "norm_backward" : "norm_forward",
                     RUN_SECONDS) &&
           profile_expect_shared(calls->check, norm_bytes(calls), shares);
}

/* Whether what came back has these bits; says where it has not. */
static bool norm_same(NormCalls *calls, const float *got, const float *right, size_t count) {
    char text[300] = "";
    bool same = memcmp(got, right, count * sizeof *got) == 0;
    if (!same) {
        norm_tell(calls, got, right, text, sizeof text);
    }
    return check_compared(calls->check, same, "%s", text);
}

/* The results against those of the kit. */
static bool norm_judge(NormCalls *calls) {
    Check *check = calls->check;
    size_t count;
    char name[40];
    float *got = norm_copy(calls, &count);
    norm_case(calls, NORM_RIGHT, name);
    if (!check_run_kit(check, name, RUN_SECONDS)) {
        return false;
    }
    bool same = norm_same(calls, got, norm_copy(calls, &count), count);
    for (int k = 1; k < NORM_ALL && !same; k++) {
        norm_case(calls, k, name);
        if (norm_is_known(calls, k) && check_run_kit(check, name, RUN_SECONDS)) {
            const float *wrong = norm_copy(calls, &count);
            check_suspect(check, sentences[k], memcmp(got, wrong, count * sizeof *got) == 0);
        }
    }
    return same;
}

bool norm_grade(NormCalls *calls) {
    norm_planned(calls);
    profile_want_once(calls->check);
    return norm_run(calls, profile_any_kernel) && norm_judge(calls);
}

void norm_grade_clean(Check *check, bool backward) {
    NormCalls calls = norm_few(check, backward);
    norm_planned(&calls);
    if (norm_run(&calls, profile_any_kernel) && profile_expect_clean(check) && norm_judge(&calls)) {
        launches_grade(check, backward ? "backward_launches" : "forward_launches", 2100000, 8);
    }
}

void norm_grade_schedules(Check *check) {
    static const char *const schedule[] = {"CUDASIM_SCHED=forward", "CUDASIM_SCHED=reverse",
                                           "CUDASIM_SCHED=random:7"};
    NormCalls calls = norm_few(check, true);
    const float *right = NULL;
    size_t count;
    norm_planned(&calls);
    for (int s = 0; s < 3; s++) {
        check_environment(check, schedule[s]);
        if (!norm_run(&calls, profile_any_kernel) || !profile_expect_clean(check)) {
            return;
        }
        float *got = norm_copy(&calls, &count);
        if (!(right == NULL ? norm_judge(&calls) : norm_same(&calls, got, right, count))) {
            return;
        }
        right = got; /* and so the kit's, which needs no run in another order */
    }
}

/* ---- traffic --------------------------------------------------------------------------------- */

/* Bytes that must move: 4 N C forward; backward, in place, 5 N C, and dout and sum once more for
   the sums over rows, whose partial sums are written and read. */
static double norm_formula(const NormCalls *calls, const NormCase *c) {
    double N = c->N, C = c->C, r = c->precision == F32 ? 4 : 2;
    double partial = 2.0 * LAYERNORM_BLOCKS * C * sizeof(float);
    return calls->backward
               ? (7 * N + 1) * C * r + 4 * N * sizeof(float) + 2 * partial + 4 * C * sizeof(float)
               : (4 * N + 2) * C * r + 2 * N * sizeof(float);
}

void norm_grade_traffic(Check *check, bool backward) {
    static const int C[] = {256, 512, 64};
    NormCalls calls = {.check = check, .backward = backward};
    for (int i = 0; i < 3; i++) {
        norm_add(&calls,
                 (NormCase){.precision = i, .N = 256, .C = C[i], .in_place = backward, .p = 0.3f});
    }
    norm_planned(&calls);
    profile_want_once(check);
    /* So few numbers that a block that moves all of them is seen by a tenth. */
    if (!norm_run(&calls, (ProfileShares){.thread = 1.0 / 64, .block = 0.1, .lanes = 1})) {
        return;
    }
    const uint64_t *moved = check_got(check, "traffic", WIRE_U64);
    uint64_t counted[3];
    memcpy(counted, moved, sizeof counted);
    if (!norm_judge(&calls)) {
        return;
    }
    for (int i = 0; i < 3; i++) {
        double least = norm_formula(&calls, &calls.c[i]);
        bool good = (double)counted[i] <= 1.05 * least;
        if (!check_compared(check, good,
                            "%s of (256, %d) in %s moves %.2f times the bytes of the formula: is "
                            "the row read more than once?",
                            backward ? "backward" : "forward", C[i], precision_name((Precision)i),
                            (double)counted[i] / least)) {
            return;
        }
    }
}
