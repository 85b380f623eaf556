#include "grader/labs/14_tensor/numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grader/draws.h"
#include "grader/labs/14_tensor/sizes.h"
#include "grader/quiz.h"

/* ---- the norm -------------------------------------------------------------------------------- */

typedef enum NormOfRanks {
    NORM_OF_WHOLE,
    NORM_OF_OWN,
    NORM_COUNTS_TWICE,
    NORM_TAKEN_ONCE,
    NORM_OF_NORMS,
    NORM_WITHOUT_WHOLE,
    NORM_SQUARED,
    NORM_AVERAGED,
    NORM_WAYS
} NormOfRanks;

static const char *const norm_sentence[NORM_WAYS] = {
    [NORM_OF_OWN] = "each rank has the norm of its own gradients: with different norms the ranks "
                    "clip differently",
    [NORM_COUNTS_TWICE] = "what all ranks have is counted R times",
    [NORM_TAKEN_ONCE] = "what all ranks have is counted R - 1 times: once is right, for any R",
    [NORM_OF_NORMS] = "norms are added up: squares are",
    [NORM_WITHOUT_WHOLE] = "what all ranks have is not counted at all",
    [NORM_SQUARED] = "the square root is missing",
    [NORM_AVERAGED] = "the squares are averaged over the ranks: their sum is meant",
};

/* Squares of the gradients that a rank has a part of, and of those that all have. */
static void norm_squares(const Ranked *ranked, int rank, double *split, double *whole) {
    *split = *whole = 0;
    for (int at = 0; at < ranked->params; at++) {
        size_t n;
        const double *part = ranked_part(ranked, ranked->before, at, rank, &n);
        for (size_t i = 0; i < n; i++) {
            *(judge_is_whole(at) ? whole : split) += part[i] * part[i];
        }
    }
}

static double norm_as(const Ranked *ranked, NormOfRanks way, int rank) {
    double split, whole, own, sum = 0, norms = 0, R = ranked->R;
    for (int r = 0; r < ranked->R; r++) {
        norm_squares(ranked, r, &split, &whole);
        sum += split;
        norms += sqrt(split + (r == 0 ? whole : 0));
    }
    norm_squares(ranked, rank, &own, &whole);
    switch (way) {
    case NORM_OF_OWN:
        return sqrt(own + whole);
    case NORM_COUNTS_TWICE:
        return sqrt(sum + R * whole);
    case NORM_TAKEN_ONCE:
        return sqrt(sum + (R - 1) * whole);
    case NORM_OF_NORMS:
        return norms;
    case NORM_WITHOUT_WHOLE:
        return sqrt(sum);
    case NORM_SQUARED:
        return sum + whole;
    case NORM_AVERAGED:
        return sqrt((sum + whole) / R);
    default:
        return sqrt(sum + whole);
    }
}

static void norm_gradients(Ranked *ranked) {
    const float *values = check_normal(ranked->check, ranked->given.P, 0.3, F32);
    for (int at = 0; at < ranked->params; at++) {
        for (size_t i = 0; i < ranked->param[at].count; i++) {
            /* small parameters are as loud as large ones */
            double scale = judge_is_whole(at) ? 4 : 1;
            ranked->before[ranked->at[at] + i] =
                (double)(float)(scale * (double)values[ranked->at[at] + i]);
        }
    }
}

/* For simulated GPUs, whose memory the host does not read. */
static Ranked draw_small(Check *check, int R) {
    ModelConfig config = {.V = 256 + check_int(check, 1, 9), .T = 9, .L = 3, .NH = R};
    config.C = R * check_int(check, 2, 3);
    Ranked ranked = ranked_new(check, config, R);
    ranked.option[RANKS_GPU] = true;
    norm_gradients(&ranked);
    return ranked;
}

/* The same with weights in half for the runs from now on. Gradients stay floats. */
static void store_in_half(Ranked *ranked, Precision precision) {
    ModelConfig *config = &ranked->given.config;
    config->precision = precision;
    check_give_again(ranked->check, "config", WIRE_BYTES, config, sizeof *config);
}

static void want_gradients(const Ranked *ranked) {
    for (int rank = 0; rank < ranked->R; rank++) {
        char name[WIRE_NAME];
        size_t n = sizes_numbers(&ranked->given.config, ranked->R, rank);
        check_want(ranked->check, rank_name(name, "gradients", rank, "window", 0), WIRE_F32, n);
    }
}

static bool expect_norms(const Ranked *ranked) {
    Check *check = ranked->check;
    Tolerance tolerance = {.relative = 1e-5, .scaled = 0, .norm = 1e-5};
    bool good = true;
    for (int rank = 0; rank < ranked->R; rank++) {
        char name[WIRE_NAME];
        double want = norm_as(ranked, NORM_OF_WHOLE, rank), wrong[NORM_WAYS];
        Suspect suspects[NORM_WAYS];
        for (int way = 1; way < NORM_WAYS; way++) {
            wrong[way] = norm_as(ranked, (NormOfRanks)way, rank);
            suspects[way - 1] = (Suspect){norm_sentence[way], &wrong[way]};
        }
        good = check_close(check, rank_name(name, "norm", rank, "window", 0), &want, 1, tolerance,
                           suspects, NORM_WAYS - 1) &&
               good;
    }
    return good;
}

/* Of slice_norm() and slice_share_overflow() alike. */
static bool expect_one_float(const Ranked *ranked, const char *function, int times) {
    RankCalls calls;
    if (!ranks_take_calls(ranked->check, &calls)) {
        return false;
    }
    double each = 2.0 * sizeof(float) * (ranked->R - 1) / ranked->R;
    for (int rank = 0; rank < ranked->R; rank++) {
        int made = ranks_called(&calls, rank, NULL);
        double sent = ranks_sent(&calls, rank);
        if (!check_compared(ranked->check, made == times && fabs(sent - times * each) <= times,
                            "rank %d: %d of %s make %d calls of NCCL and send %.0f bytes: each "
                            "makes one all-reduce of one float",
                            rank, times, function, made, sent)) {
            return false;
        }
    }
    return true;
}

/* Of both as well. */
static bool expect_nothing_left(const Ranked *ranked, const char *function, int rank) {
    uint64_t left = ((const uint64_t *)check_got(ranked->check, "left", WIRE_U64))[rank];
    return check_compared(ranked->check, left == 0,
                          "%s leaves %llu bytes on rank %d: what it allocates it releases",
                          function, (unsigned long long)left, rank);
}

static bool norm_is_right(Ranked *ranked) {
    Check *check = ranked->check;
    if (!ranks_start(check, "norm", TP_SECONDS) || !expect_norms(ranked)) {
        return false;
    }
    bool good = true;
    for (int rank = 0; rank < ranked->R; rank++) {
        size_t n;
        const double *right = ranked_slice(ranked, ranked->before, rank, &n);
        const float *norm = ranks_got(check, "norm", rank, 0),
                    *first = ranks_got(check, "norm", 0, 0);
        const float *got = ranks_got(check, "gradients", rank, 0);
        bool same = true;
        for (size_t i = 0; i < n; i++) {
            same = same && (double)got[i] == right[i];
        }
        good = check_compared(check, same, "a gradient of rank %d has changed: the norm only reads",
                              rank) &&
               expect_nothing_left(ranked, "slice_norm()", rank) &&
               check_compared(
                   check, memcmp(norm, first, sizeof *norm) == 0,
                   "rank %d has another norm than rank 0, %.9g and %.9g: the bits are the same",
                   rank, (double)*norm, (double)*first) &&
               good;
    }
    return expect_one_float(ranked, "slice_norm()", TP_NORMS) && good;
}

void numbers_judge_norm(Check *check) {
    /* of two ranks R - 1 times are once */
    Ranked ranked = draw_small(check, check_int(check, 0, 1) ? 5 : 3);
    ranked_give(&ranked, 0);
    ranked_want(&ranked, "norm", 1);
    want_gradients(&ranked);
    check_want(check, "left", WIRE_U64, (size_t)ranked.R);
    if (norm_is_right(&ranked)) {
        store_in_half(&ranked, check_int(check, 0, 1) ? F16 : BF16);
        norm_is_right(&ranked);
    }
}

/* ---- overflow -------------------------------------------------------------------------------- */

enum { OVERFLOWS = 48 };

/* Whose gradient, which parameter, what is put into it: each parameter once. Rank -1: nobody's. In
   one case it is finite, and its square is more than a float holds. */
static void draw_overflows(const Ranked *ranked, float cases[OVERFLOWS][3]) {
    static const float bad[] = {INFINITY, -INFINITY, NAN};
    int next = 0;
    for (int i = 0; i < OVERFLOWS; i++) {
        bool nobody = i % 8 == 7;
        cases[i][0] = nobody ? -1.0f : (float)check_int(ranked->check, 0, ranked->R - 1);
        cases[i][1] = (float)(nobody ? 0 : next++ % ranked->params);
        cases[i][2] = bad[check_int(ranked->check, 0, 2)];
    }
    CHECK(next >= ranked->params, "%d cases for %d parameters", next, ranked->params);
    cases[0][0] = (float)(ranked->R - 1); /* each of these in every draw */
    cases[0][2] = NAN;
    cases[1][0] = 0;
    cases[1][2] = INFINITY;
    cases[2][2] = -INFINITY;
    cases[7][0] = (float)check_int(ranked->check, 0, ranked->R - 1);
    cases[7][2] = 1e30f;
}

/* One case on one rank: `outcome` is what that rank has, `owners` what the one has that had it. */
static bool expect_overflow(const Ranked *ranked, const float c[3], int rank, uint64_t outcome,
                            uint64_t owners) {
    char scope[WIRE_NAME];
    if (c[0] < 0 || isfinite(c[2])) {
        return check_compared(ranked->check, outcome == OVERFLOW_NONE,
                              "all gradients are finite%s, and those of rank %d have changed",
                              c[0] >= 0 ? " (one is 1e+30)" : "", rank);
    }
    param_scope(scope, &ranked->param[(int)c[1]]);
    return check_compared(
               ranked->check, owners == OVERFLOW_FOUND,
               "a gradient of rank %d is %g (%s), and after the call all of them are finite there: "
               "that rank takes the step, and all have to skip it",
               (int)c[0], (double)c[2], scope) &&
           check_compared(ranked->check, outcome == OVERFLOW_FOUND,
                          "a gradient of rank %d is %g (%s), and those of rank %d are finite: this "
                          "one takes the step, and the former skips it",
                          (int)c[0], (double)c[2], scope, rank);
}

static bool expect_overflows(const Ranked *ranked, float cases[OVERFLOWS][3]) {
    const uint64_t *got = check_got(ranked->check, "overflow", WIRE_U64);
    bool right = true;
    for (int k = 0; k < ranked->R * OVERFLOWS; k++) {
        int i = k % OVERFLOWS, owner = cases[i][0] < 0 ? 0 : (int)cases[i][0];
        bool good =
            expect_overflow(ranked, cases[i], k / OVERFLOWS, got[k], got[owner * OVERFLOWS + i]);
        right = right && good;
    }
    for (int rank = 0; right && rank < ranked->R; rank++) {
        right = expect_nothing_left(ranked, "slice_share_overflow()", rank);
    }
    return right;
}

void numbers_judge_overflow(Check *check) {
    /* ranks that are neither the first, nor the last, nor beside the one that has it */
    Ranked ranked = draw_small(check, check_int(check, 4, 5));
    float cases[OVERFLOWS][3];
    draw_overflows(&ranked, cases);
    Precision half = check_int(check, 0, 1) ? F16 : BF16;
    ranked_give(&ranked, 0);
    store_in_half(&ranked, half);
    check_give(check, "cases", WIRE_F32, cases, (size_t)OVERFLOWS * 3);
    check_want(check, "overflow", WIRE_U64, (size_t)ranked.R * OVERFLOWS);
    check_want(check, "left", WIRE_U64, (size_t)ranked.R);
    if (!ranks_start(check, "overflow", TP_SECONDS)) {
        return;
    }
    if (expect_overflows(&ranked, cases) &&
        expect_one_float(&ranked, "slice_share_overflow()", OVERFLOWS) &&
        ranked_on_other_device(&ranked)) {
        store_in_half(&ranked, half == F16 ? BF16 : F16);
        if (ranks_start(check, "overflow", TP_SECONDS)) {
            expect_overflows(&ranked, cases);
        }
    }
}

/* ---- formulas -------------------------------------------------------------------------------- */

enum { SHAPES_DRAWN = 13, SHAPES = SHAPES_DRAWN + QUIZ_TWINS + 1 };

/* Models of all kinds, twins of the last of them, and one that no machine here holds. */
static Quiz slice_shapes(Check *check, int32_t slices[2 * SHAPES], bool again, size_t numbers) {
    Quiz quiz = {.check = check, .numbers = numbers};
    for (int i = 0; i < SHAPES_DRAWN; i++) {
        int R = check_int(check, 2, 6);
        ModelConfig config = {.V = 300 + 5 * i,
                              .T = check_int(check, 20, 40),
                              .L = check_int(check, 4, 7),
                              .NH = R * check_int(check, 1, 2),
                              .precision = (Precision)(i % 3),
                              .attention = (Attention)(i % 2)};
        config.V += config.V % R == 0;
        config.C = config.NH * check_int(check, 4, 20);
        /* wide vocabularies: the head is larger than a block's backward, or smaller */
        config.V += i % 4 == 0 ? 16 * config.C : 0;
        if (i % 4 == 1) { /* the last rank's rows of logits are shorter than the first one's: of
                             both of them one is asked for */
            config.V = R * 64 * (config.C / 8 + 1) + check_int(check, 1, R - 1);
        }
        Shape shape = {.config = config, .B = check_int(check, 1, 6), .T = check_int(check, 7, 19)};
        if (again && i > 0) { /* segments, both, attention alone; of flash, too */
            shape.checkpoint.segment = i % 3 > 0 ? check_int(check, 1, 3) : 0;
            if (i == 7 || i == 8) { /* a plain step */
                shape.checkpoint.segment = config.L + (i == 8 ? check_int(check, 1, 3) : 0);
            }
            shape.checkpoint.attention_only = i % 3 != 1;
        }
        slices[2 * i] = R;
        slices[2 * i + 1] = i == 5 ? 0 : i % 2 ? R - 1 : check_int(check, 0, R - 1);
        quiz_add(&quiz, shape);
    }
    quiz_add_twins(&quiz);
    for (int i = SHAPES_DRAWN; i < quiz.count; i++) {
        slices[2 * i] = slices[2 * SHAPES_DRAWN - 2];
        slices[2 * i + 1] = slices[2 * SHAPES_DRAWN - 1];
    }
    ModelConfig large = {.V = 50257, .T = 64, .L = 48, .NH = 96, .C = 12288};
    quiz_add(&quiz, (Shape){.config = large, .B = 65536, .T = 64});
    slices[2 * SHAPES - 2] = 2; /* more than 2^32 numbers in a rank, in the stream, in the logits */
    slices[2 * SHAPES - 1] = 1;
    check_give(check, "slices", WIRE_I32, slices, 2 * (size_t)SHAPES);
    return quiz;
}

static const char *kind_label(size_t i, char *text) {
    snprintf(text, CHECK_LABEL, "%s", memory_kind_name((MemoryKind)i));
    return text;
}

static void slice_kinds(uint64_t to[MEMORY_KINDS], const MemoryUse *use) {
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        to[kind] = use->bytes[kind];
    }
}

/* Other numbers of parameters: by how many bytes each kind differs. */
static void with_numbers(uint64_t to[MEMORY_KINDS], const ModelConfig *config, size_t numbers) {
    MemoryUse use = {0};
    use.bytes[MEMORY_WEIGHTS] = numbers * precision_bytes(config->precision);
    use.bytes[MEMORY_GRADIENTS] = 4 * numbers;
    use.bytes[MEMORY_OPTIMIZER] = (config->precision == F32 ? 8 : 12) * numbers;
    slice_kinds(to, &use);
}

static void expect_states(Check *check, const char *name, const ModelConfig *config, int R,
                          int rank) {
    enum { WAYS = 4 };
    static const char *const sentences[WAYS] = {
        "everything is divided by R: norms, positions and the biases of row layers are whole",
        "the biases of row layers are split: they are whole on each rank",
        "the token embedding is whole: a rank has its rows of it",
        "no master is counted: with weights in half each has one"};
    uint64_t right[MEMORY_KINDS], wrong[WAYS][MEMORY_KINDS];
    MemoryUse use = sizes_states(config, R, rank);
    size_t numbers = sizes_numbers(config, R, rank), C = (size_t)config->C, L = (size_t)config->L;
    size_t whole = sizes_numbers(config, 1, 0), S = (size_t)R;
    int first, rows;
    judge_rows(config->V, R, rank, &first, &rows);
    slice_kinds(right, &use);
    with_numbers(wrong[0], config, whole / S);
    with_numbers(wrong[1], config, numbers - 2 * L * (C - C / S));
    with_numbers(wrong[2], config, numbers + (size_t)(config->V - rows) * C);
    slice_kinds(wrong[3], &use);
    wrong[3][MEMORY_OPTIMIZER] = 8 * numbers;
    ExactSuspect suspects[WAYS];
    for (int i = 0; i < WAYS; i++) {
        suspects[i] = (ExactSuspect){sentences[i], wrong[i]};
    }
    check_equal_of(check, name, kind_label, right, MEMORY_KINDS, suspects, WAYS);
}

void numbers_judge_states(Check *check) {
    int32_t slices[2 * SHAPES];
    Quiz quiz = slice_shapes(check, slices, false, MEMORY_KINDS);
    if (quiz_run(&quiz, "formulas/states", TP_SECONDS)) {
        for (int i = 0; i < quiz.count; i++) {
            expect_states(check, quiz.name[i], &quiz.shape[i].config, slices[2 * i],
                          slices[2 * i + 1]);
        }
    }
}

void numbers_judge_activations(Check *check) {
    int32_t slices[2 * SHAPES];
    Quiz quiz = slice_shapes(check, slices, true, 1);
    if (!quiz_run(&quiz, "formulas/activations", TP_SECONDS)) {
        return;
    }
    for (int i = 0; i < quiz.count; i++) {
        Shape *shape = &quiz.shape[i], none = *shape;
        int R = slices[2 * i], rank = slices[2 * i + 1];
        none.checkpoint = (Checkpoint){0};
        uint64_t right = sizes_activations(shape, R, rank), whole = sizes_activations(shape, 1, 0);
        uint64_t divided = whole / (uint64_t)R, plain = sizes_activations(&none, R, rank);
        ExactSuspect suspects[] = {
            {"everything is whole: a rank has its heads and its columns alone", &whole},
            {"everything is divided by R: the stream and both norms are whole", &divided},
            {"nothing is run again: see checkpoint", &plain}};
        check_equal(check, quiz.name[i], &right, 1, suspects, 3);
    }
}

void numbers_judge_wire(Check *check) {
    int32_t slices[2 * SHAPES];
    Quiz quiz = slice_shapes(check, slices, false, 1);
    if (!quiz_run(&quiz, "formulas/wire", TP_SECONDS)) {
        return;
    }
    for (int i = 0; i < quiz.count; i++) {
        const Shape *shape = &quiz.shape[i];
        const ModelConfig *config = &shape->config;
        uint64_t R = (uint64_t)slices[2 * i], right = sizes_wire(shape, (int)R);
        uint64_t N = (uint64_t)shape->B * (uint64_t)shape->T, L = (uint64_t)config->L;
        uint64_t stream = N * (uint64_t)config->C * precision_bytes(config->precision);
        uint64_t links = 2 * (R - 1), of_rank = right / R, once = right / 2;
        uint64_t forward = links * ((2 * L + 1) * stream + 12 * N);
        uint64_t blocks = links * 4 * L * stream;
        uint64_t logits = right + links * N * ((uint64_t)config->V * 4 - 12);
        ExactSuspect suspects[] = {
            {"this is what one rank sends: all of them are meant", &of_rank},
            {"a ring goes round twice: 2 n (R - 1)", &once},
            {"backward is missing: two more all-reduces in each block, and one in the head",
             &forward},
            {"embedding and head are missing", &blocks},
            {"whole rows of logits are sent: the largest, the sum and the target's logit are "
             "enough",
             &logits}};
        check_equal(check, quiz.name[i], &right, 1, suspects, 5);
    }
}
