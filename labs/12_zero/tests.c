/* Lab 12, judged. The submission runs as several ranks in one program; one process of the kit
   learns from the batches of all of them, one after the other, and has the right bits. */
#include <stdio.h>
#include <string.h>

#include "grader/labs/12_zero/ahead.h"
#include "grader/labs/12_zero/cut.h"
#include "grader/labs/12_zero/run.h"
#include "grader/quiz.h"

/* ---- task 1 ---------------------------------------------------------------------------------- */

enum { PARTS_ASKED = 24, PIECES_ASKED = 60 };

static const char *parts_label(size_t i, char *text) {
    snprintf(text, CHECK_LABEL, "question %zu", i);
    return text;
}

GRADED(12_zero, parts, "task 1: numbers of each rank's part") {
    uint64_t asked[2 * PARTS_ASKED], right[PARTS_ASKED], cut[PARTS_ASKED], up[PARTS_ASKED];
    uint64_t less[PARTS_ASKED];
    for (size_t i = 0; i < PARTS_ASKED; i++) {
        uint64_t blocks = (uint64_t)check_int(check, 1, i % 4 == 0 ? 6 : 3000);
        uint64_t R = i == 0 ? 1 : (uint64_t)check_int(check, 2, i % 3 == 0 ? 64 : 9);
        blocks = i == 1 ? (uint64_t)1 << 30 : i % 5 == 2 ? blocks * R : blocks;
        asked[2 * i] = blocks * TENSOR_BLOCK;
        asked[2 * i + 1] = R;
        right[i] = (blocks / R + (blocks % R > 0)) * TENSOR_BLOCK;
        less[i] = blocks / R * TENSOR_BLOCK;
        up[i] = (blocks / R + 1) * TENSOR_BLOCK;
        cut[i] = (blocks * TENSOR_BLOCK + R - 1) / R;
    }
    check_give(check, "asked", WIRE_U64, asked, 2 * PARTS_ASKED);
    check_want(check, "answers", WIRE_U64, PARTS_ASKED);
    if (check_run(check, "formulas/parts", SECONDS)) {
        ExactSuspect suspects[] = {
            {"rounded down: R parts do not hold the unit", less},
            {"a block too many where R divides the blocks", up},
            {"cut between any two numbers: parts are whole blocks of TENSOR_BLOCK", cut}};
        check_equal_of(check, "answers", parts_label, right, PARTS_ASKED, suspects, 3);
    }
}

/* Question i: a tensor of some unit, and a part of it. */
static void ask_piece(Check *check, size_t i, uint64_t q[4]) {
    uint64_t part = (uint64_t)check_int(check, 1, 9) * TENSOR_BLOCK;
    uint64_t rank = (uint64_t)check_int(check, 0, 5), from = part * rank;
    uint64_t any = (uint64_t)check_int(check, 1, (int)part);
    uint64_t before = (uint64_t)check_int(check, 0, 4) * TENSOR_BLOCK;
    before = before > from ? from : before;
    q[2] = part;
    q[3] = rank;
    switch (i % 6 == 4 && before == 0 ? 5 : i % 6) {
    case 0: /* within the part */
        q[0] = from, q[1] = any;
        break;
    case 1: /* begins before it, and ends in it */
        q[0] = from - before, q[1] = before + any;
        break;
    case 2: /* begins in it, and ends after it */
        q[0] = from + (any - 1) / TENSOR_BLOCK * TENSOR_BLOCK, q[1] = part + any;
        break;
    case 3: /* goes through it */
        q[0] = from - before, q[1] = before + part + any;
        break;
    case 4: /* before it */
        q[0] = from - before, q[1] = before;
        break;
    default: /* after it */
        q[0] = from + part, q[1] = any;
    }
}

static void right_piece(const uint64_t q[4], uint64_t piece[3]) {
    uint64_t from = q[2] * q[3], n = 0, first = 0, at = 0;
    for (uint64_t j = 0; j < q[1]; j++) { /* number by number */
        uint64_t place = q[0] + j;
        if (place / q[2] == q[3]) {
            first = n == 0 ? j : first;
            at = n == 0 ? place - from : at;
            n++;
        }
    }
    piece[0] = n > 0 ? first : 0;
    piece[1] = n;
    piece[2] = n > 0 ? at : q[0] < from ? 0 : q[2];
}

GRADED(12_zero, pieces, "task 1: which numbers of a tensor are a rank's") {
    uint64_t asked[4 * PIECES_ASKED], right[3 * PIECES_ASKED];
    for (size_t i = 0; i < PIECES_ASKED; i++) {
        ask_piece(check, i, asked + 4 * i);
        right_piece(asked + 4 * i, right + 3 * i);
    }
    check_give(check, "asked", WIRE_U64, asked, 4 * PIECES_ASKED);
    check_want(check, "answers", WIRE_U64, 3 * PIECES_ASKED);
    if (!check_run(check, "formulas/pieces", SECONDS)) {
        return;
    }
    const uint64_t *got = check_got(check, "answers", WIRE_U64);
    for (size_t i = 0; i < 3 * PIECES_ASKED; i++) {
        const uint64_t *q = asked + 4 * (i / 3);
        if (got[i] != right[i]) {
            check_fail(check,
                       "a tensor of %llu numbers at %llu, parts of %llu, rank %llu: %s is %llu, "
                       "%llu is right: %s",
                       (unsigned long long)q[1], (unsigned long long)q[0], (unsigned long long)q[2],
                       (unsigned long long)q[3],
                       i % 3 == 0   ? "first"
                       : i % 3 == 1 ? "count"
                                    : "at",
                       (unsigned long long)got[i], (unsigned long long)right[i],
                       right[3 * (i / 3) + 1] == 0
                           ? "the rank has none of it; `at` is 0 or the end of the part"
                           : "where do [begin, begin + count) and the part overlap?");
            return;
        }
    }
    check_good(check);
}

/* ---- task 2 ---------------------------------------------------------------------------------- */

enum { WAYS = 14 };

/* Shapes with odd sizes, each with a stage, ranks, a rank and micro-batches. */
static void ask_ways(Quiz *quiz, int32_t ways[4 * WAYS]) {
    Check *check = quiz->check;
    for (int i = 0; i < WAYS; i++) {
        ModelConfig config = {.V = check_int(check, 256, i % 4 == 3 ? 5000 : 300),
                              .T = check_int(check, 9, 40),
                              .L = check_int(check, 1, 6),
                              .NH = check_int(check, 1, 4),
                              .precision = (Precision)(i % 3)};
        config.C = config.NH * check_int(check, 7, 30);
        if (i == 1) {
            config = (ModelConfig){.V = 50257, .T = 1024, .L = 48, .NH = 25, .C = 1600};
        }
        int32_t R = i == 2 ? 1 : check_int(check, 2, 7);
        quiz_add(quiz, (Shape){.config = config, .B = 1 + i, .T = 8});
        ways[4 * i] = i == 1 ? 2 : 1 + (i + i / 3) % 3;
        ways[4 * i + 1] = R;
        ways[4 * i + 2] = i % 2 == 0 ? R - 1 : check_int(check, 0, R - 1);
        ways[4 * i + 3] = check_int(check, 1, 3);
    }
    check_give(check, "ways", WIRE_I32, ways, 4 * WAYS);
}

static const char *way_text(const int32_t *way, const char *shape) {
    static char text[120];
    snprintf(text, sizeof text, "%s, stage %d, rank %d of %d", shape, way[0], way[2], way[1]);
    return text;
}

static const char *states_mistake(MemoryUse got, MemoryUse right, const ModelConfig *config,
                                  const int32_t *way, MemoryKind kind) {
    uint64_t g = got.bytes[kind], want = right.bytes[kind], R = (uint64_t)way[1];
    if ((uint32_t)g == (uint32_t)want) {
        return "an int holds no more than 2^31 - 1: sizes are computed in size_t";
    }
    if (kind == MEMORY_OPTIMIZER) {
        uint64_t parts = zero_parts(config, way[1]) * (config->precision == F32 ? 8 : 12);
        return g == parts ? "zeros between tensors have no states: they are of pieces alone"
               : 3 * g == 2 * want ? "with weights in half, each number has a master in float"
                                   : "two moments for each number of the rank's pieces";
    }
    if (g == want * R || g * R == want) {
        return kind == MEMORY_WEIGHTS ? "weights are whole up to stage 2, a part at stage 3"
                                      : "gradients are whole at stage 1, a part from stage 2 on";
    }
    return kind == MEMORY_GRADIENTS && config->precision != F32 && 2 * g == want
               ? "gradients are floats, whatever the weights are"
               : "each unit is R equal parts of whole blocks; in it each tensor begins a block";
}

GRADED(12_zero, states, "task 2: bytes that a rank has all the time") {
    static const MemoryKind kinds[] = {MEMORY_WEIGHTS, MEMORY_GRADIENTS, MEMORY_OPTIMIZER};
    Quiz quiz = {.check = check, .numbers = MEMORY_KINDS};
    int32_t ways[4 * WAYS];
    ask_ways(&quiz, ways);
    if (!quiz_run(&quiz, "formulas/states", SECONDS)) {
        return;
    }
    for (int i = 0; i < WAYS * 3; i++) {
        const int32_t *way = ways + 4 * (i / 3);
        const ModelConfig *config = &quiz.shape[i / 3].config;
        MemoryUse got, right = zero_stays(config, way[0], way[1], way[2]);
        for (int kind = 0; kind < MEMORY_KINDS; kind++) {
            got.bytes[kind] = quiz_answer(&quiz, i / 3)[kind];
        }
        MemoryKind kind = kinds[i % 3];
        if (got.bytes[kind] != right.bytes[kind]) {
            check_fail(check, "%s: %zu bytes of %s, %zu are right: %s",
                       way_text(way, quiz.name[i / 3]), got.bytes[kind], memory_kind_name(kind),
                       right.bytes[kind], states_mistake(got, right, config, way, kind));
            return;
        }
    }
    check_good(check);
}

static const char *gathered_mistake(MemoryKind kind, int stage, size_t got, size_t right) {
    if (right == 0) {
        return kind == MEMORY_WEIGHTS ? "weights come and go at stage 3 alone"
                                      : "gradients come and go from stage 2 on";
    }
    if (got == 0) {
        return stage == 2 ? "at stage 2 gradients come and go" : "at stage 3 both come and go";
    }
    return kind == MEMORY_WEIGHTS
               ? "one unit at a time: unit 0 or that of a block, whichever is larger"
               : "that of a block, beside unit 0, whose gradients stay up to the embedding's "
                 "backward; in float";
}

GRADED(12_zero, gathered, "task 2: bytes that come and go") {
    Quiz quiz = {.check = check, .numbers = MEMORY_KINDS};
    int32_t ways[4 * WAYS];
    ask_ways(&quiz, ways);
    if (!quiz_run(&quiz, "formulas/gathered", SECONDS)) {
        return;
    }
    for (int i = 0; i < WAYS * 2; i++) {
        const int32_t *way = ways + 4 * (i / 2);
        MemoryKind kind = i % 2 == 0 ? MEMORY_WEIGHTS : MEMORY_GRADIENTS;
        MemoryUse right = zero_comes(&quiz.shape[i / 2].config, way[0], way[1], false);
        size_t got = quiz_answer(&quiz, i / 2)[kind];
        if (got != right.bytes[kind]) {
            check_fail(check, "%s: %zu bytes of %s at most, %zu are right: %s",
                       way_text(way, quiz.name[i / 2]), got, memory_kind_name(kind),
                       right.bytes[kind], gathered_mistake(kind, way[0], got, right.bytes[kind]));
            return;
        }
    }
    check_good(check);
}

GRADED(12_zero, ahead, "task 2: bytes of weights where the next unit is on its way") {
    Quiz quiz = {.check = check, .numbers = 1};
    int32_t ways[4 * WAYS];
    ask_ways(&quiz, ways);
    if (!quiz_run(&quiz, "formulas/ahead", SECONDS)) {
        return;
    }
    for (int i = 0; i < WAYS; i++) {
        const int32_t *way = ways + 4 * i;
        const ModelConfig *config = &quiz.shape[i].config;
        size_t right = zero_comes(config, 3, way[1], true).bytes[MEMORY_WEIGHTS];
        size_t got = *quiz_answer(&quiz, i);
        if (got != right) {
            check_fail(check,
                       "%s, %d ranks: %zu bytes of weights at most, %zu are right: of two units "
                       "that run one after the other: blocks, or a block and unit 0",
                       quiz.name[i], way[1], got, right);
            return;
        }
    }
    check_good(check);
}

GRADED(12_zero, wire, "task 2: bytes that a rank sends in an update") {
    Quiz quiz = {.check = check, .numbers = 1};
    int32_t ways[4 * WAYS];
    ask_ways(&quiz, ways);
    if (!quiz_run(&quiz, "formulas/wire", SECONDS)) {
        return;
    }
    for (int i = 0; i < WAYS; i++) {
        const int32_t *way = ways + 4 * i;
        const ModelConfig *config = &quiz.shape[i].config;
        uint64_t numbers = (uint64_t)(way[1] - 1) * zero_parts(config, way[1]);
        uint64_t each = precision_bytes(config->precision), K = (uint64_t)way[3];
        uint64_t right = numbers * (way[0] == 1   ? 4 + each
                                    : way[0] == 2 ? 4 * K + each
                                                  : (4 + 2 * each) * K);
        uint64_t got = *quiz_answer(&quiz, i);
        if (got != right) {
            check_fail(check,
                       "%s, %d micro-batches: %llu bytes, %llu are right: gradients are summed %s, "
                       "weights gathered %s; each sends R - 1 parts",
                       way_text(way, quiz.name[i]), way[3], (unsigned long long)got,
                       (unsigned long long)right, way[0] == 1 ? "once" : "in each micro-batch",
                       way[0] < 3 ? "once" : "twice in each micro-batch");
            return;
        }
    }
    check_good(check);
}

/* ---- tasks 3, 4, 5: stages ------------------------------------------------------------------- */

static void expect_stage(Check *check, int stage, int ranks, int micros) {
    ZeroRun *run = zero_run(check, stage, ranks, micros, F32);
    if (zero_start(run)) {
        zero_expect_steps(run);
    }
}

static void expect_budget(Check *check, int stage, int ranks) {
    ZeroRun *run = zero_run(check, stage, ranks, 1, F32);
    zero_set_budget(run);
    if (zero_start(run)) {
        zero_expect_states(run);
    }
}

GRADED(12_zero, stage1, "task 3: the weights of one process, bit for bit") {
    check_after(check, "parts pieces");
    expect_stage(check, 1, check_int(check, 0, 1) ? 3 : 5, 1);
}

GRADED(12_zero, stage1_window, "task 3: a window of several micro-batches is summed once") {
    ZeroRun *run = zero_run(check, 1, 3, 2, F32);
    check_after(check, "parts pieces stage1");
    if (zero_start(run) && zero_expect_steps(run)) {
        zero_expect_calls(run);
    }
}

GRADED(12_zero, stage1_bytes, "task 3: in memory that has no room for the states of others") {
    check_after(check, "parts pieces");
    expect_budget(check, 1, check_int(check, 3, 4));
}

GRADED(12_zero, stage2, "task 4: gradients in parts, and the same bits") {
    check_after(check, "parts pieces stage1");
    expect_stage(check, 2, check_int(check, 0, 1) ? 3 : 5, 1);
}

GRADED(12_zero, stage2_window, "task 4: micro-batches add up in the parts") {
    ZeroRun *run = zero_run(check, 2, 3, 2, F32);
    check_after(check, "parts pieces stage1 stage2");
    if (zero_start(run) && zero_expect_steps(run)) {
        zero_expect_calls(run);
    }
}

GRADED(12_zero, stage2_bytes, "task 4: in memory that has no room for the gradients of others") {
    check_after(check, "parts pieces stage1_bytes");
    expect_budget(check, 2, check_int(check, 3, 4));
}

GRADED(12_zero, stage3, "task 5: weights in parts, and the same bits") {
    check_after(check, "parts pieces stage1 stage2");
    expect_stage(check, 3, check_int(check, 0, 1) ? 3 : 5, 1);
}

GRADED(12_zero, stage3_bytes, "task 5: in memory that has room for one gathered block") {
    check_after(check, "parts pieces stage1_bytes stage2_bytes");
    expect_budget(check, 3, check_int(check, 3, 4));
}

GRADED(12_zero, stage3_twice, "task 5: in each micro-batch weights are gathered twice") {
    ZeroRun *run = zero_run(check, 3, 3, 2, F32);
    check_after(check, "parts pieces stage1 stage2 stage2_window stage3");
    if (zero_start(run) && zero_expect_steps(run)) {
        zero_expect_calls(run);
    }
}

/* ---- task 3 ---------------------------------------------------------------------------------- */

GRADED(12_zero, norm, "task 3: clipped by the norm of all parts") {
    ZeroRun *run = zero_run(check, 1, 3, 1, F32);
    check_after(check, "parts pieces stage1");
    run->given.max_norm = 0.05f;
    if (zero_start(run)) {
        zero_expect_steps(run);
    }
}

GRADED(12_zero, overflow, "task 3: in half, where a gradient of one rank overflows") {
    ZeroRun *run = zero_run(check, 1, 3, 1, F16);
    check_after(check, "parts pieces stage1 norm");
    run->option[ZERO_SPOILED] = 1 + check_int(check, 0, 2);
    run->given.max_norm = 0.5f;
    run->option[ZERO_SPOILED_PARAM] = check_int(check, 0, params_count(&run->given.config) - 1);
    if (zero_start(run)) {
        zero_expect_steps(run);
    }
}

/* ---- task 6 ---------------------------------------------------------------------------------- */

GRADED(12_zero, prefetch, "task 6: the next unit on its way, and the same bits") {
    ZeroRun *run = zero_run(check, 3, 3, 2, F32);
    check_after(check, "parts pieces stage1 stage2 stage2_window stage3 stage3_twice");
    run->option[ZERO_PREFETCH] = true;
    if (zero_start(run) && zero_expect_steps(run)) {
        zero_expect_calls(run);
    }
}

GRADED(12_zero, prefetch_bytes, "task 6: in memory that has room for two gathered blocks") {
    ZeroRun *run = zero_run(check, 3, check_int(check, 3, 4), 1, F32);
    check_after(check, "parts pieces stage1_bytes stage2_bytes stage3_bytes");
    run->option[ZERO_PREFETCH] = 2;
    zero_set_budget(run);
    if (zero_start(run)) {
        zero_expect_states(run);
    }
}

GRADED(12_zero, prefetch_overlap, "task 6: each gather may run beside the part before its own") {
    ZeroRun *run = zero_run(check, 3, 3, 1, F32);
    check_after(check, "parts pieces stage1 stage2 stage3 prefetch");
    run->option[ZERO_PREFETCH] = run->option[RANKS_GPU] = run->option[RANKS_RECORD] = true;
    if (zero_start(run) && zero_expect_steps(run)) {
        ahead_expect_order(run);
    }
}

/* ---- tasks 3, 7 ------------------------------------------------------------------------------ */

enum { TEXT_RANKS = 3 };

static bool start_texts(Check *check, ZeroRun *run, const int32_t counts[TEXT_RANKS]) {
    int32_t length = run->option[ZERO_TEXT] = check_int(check, 3, 5);
    int32_t prompts[TEXT_RANKS * 5];
    for (int i = 0; i < TEXT_RANKS * length; i++) {
        prompts[i] = check_int(check, 0, run->given.config.V - 1);
    }
    ranks_give(check, run->option, 0);
    given_give(&run->given);
    check_give(check, "prompts", WIRE_I32, prompts, (size_t)(TEXT_RANKS * length));
    check_give(check, "counts", WIRE_I32, counts, TEXT_RANKS);
    check_want(check, "texts", WIRE_U64, TEXT_RANKS * TEXT_NUMBERS);
    return check_run_kit(check, "texts", SECONDS);
}

/* Every row of the table against the kit's, and how often the model has run. */
static void expect_texts(Check *check, const uint64_t *right, uint64_t most) {
    const uint64_t *got = check_got(check, "texts", WIRE_U64);
    for (int r = 0; r < TEXT_RANKS; r++, got += TEXT_NUMBERS, right += TEXT_NUMBERS) {
        uint64_t runs = most > 0 ? most : right[TEXT_RUNS];
        if (memcmp(got + TEXT_DRAWN, right + TEXT_DRAWN, TEXT_MOST * sizeof *got) != 0) {
            check_fail(check, "rank %d has drawn another text than a whole model draws", r);
        } else if (got[TEXT_RUNS] != runs) {
            check_fail(check, "rank %d has run the model %llu times, %llu are right: %s", r,
                       (unsigned long long)got[TEXT_RUNS], (unsigned long long)runs,
                       most > 0 ? "as often as the rank that draws most"
                                : "up to stage 2 no rank needs another");
        } else if (got[TEXT_STEPS] != runs) {
            check_fail(check, "rank %d says %llu steps, and has made %llu", r,
                       (unsigned long long)got[TEXT_STEPS], (unsigned long long)runs);
        } else {
            continue;
        }
        return;
    }
    check_good(check);
}

static void judge_texts(Check *check, int stage) {
    ZeroRun *run = zero_run(check, stage, TEXT_RANKS, 1, F32);
    uint64_t right[TEXT_RANKS * TEXT_NUMBERS];
    int32_t counts[TEXT_RANKS] = {check_int(check, 0, 3), check_int(check, 0, 3),
                                  check_int(check, 0, 3)};
    int last = check_int(check, 0, TEXT_RANKS - 1);
    counts[last] = check_int(check, 5, 6);
    counts[(last + 1) % TEXT_RANKS] = 0;
    if (!start_texts(check, run, counts)) {
        return;
    }
    memcpy(right, check_got(check, "texts", WIRE_U64), sizeof right);
    if (check_run(check, "texts", SECONDS)) {
        expect_texts(check, right, stage == 3 ? (uint64_t)counts[last] : 0);
    } else if (strstr(check_text(check), "[cudasim] deadlock:") != NULL) {
        check_fail(check, "a rank that has all its text has left, and the others wait forever for "
                          "its part of the weights: the lines above name them. It takes part until "
                          "all are done");
    }
}

GRADED(12_zero, generate, "task 7: texts that end at different lengths") {
    check_after(check, "parts pieces stage3");
    judge_texts(check, 3);
}

GRADED(12_zero, generate_whole, "task 3: with whole weights nobody waits") {
    check_after(check, "parts pieces stage1");
    judge_texts(check, 1);
}
