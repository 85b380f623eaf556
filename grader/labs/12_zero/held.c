#include "grader/labs/12_zero/held.h"

#include <stdio.h>

#include "grader/labs/12_zero/run.h"
#include "grader/quiz.h"

enum { WAYS = 14 };

/* Shapes with odd sizes, each with a stage, ranks, a rank and micro-batches. One has blocks as wide
   as GPT-3's, whose units no 32 bits count; and two have few blocks, with more numbers than unit 0:
   which two units run one after the other, their number decides. */
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
            config = (ModelConfig){.V = 50257, .T = 2048, .L = 2, .NH = 96, .C = 12288};
        } else if (i == 4 || i == 5) {
            config.L = i - 3;
            config.C = config.NH * check_int(check, 80 / config.NH, 100 / config.NH);
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
    if (kind > MEMORY_OPTIMIZER) {
        return "weights, gradients and states are what a rank has all the time";
    }
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
               : "each unit is R equal parts, by shard_part(); in it each tensor begins a block";
}

void held_states(Check *check) {
    Quiz quiz = {.check = check, .numbers = MEMORY_KINDS};
    int32_t ways[4 * WAYS];
    ask_ways(&quiz, ways);
    if (!quiz_run(&quiz, "formulas/states", SECONDS)) {
        return;
    }
    for (int i = 0; i < WAYS * MEMORY_KINDS; i++) {
        int shape = i / MEMORY_KINDS;
        const int32_t *way = ways + 4 * shape;
        const ModelConfig *config = &quiz.shape[shape].config;
        MemoryUse got, right = zero_stays(config, way[0], way[1], way[2]);
        for (int kind = 0; kind < MEMORY_KINDS; kind++) {
            got.bytes[kind] = quiz_answer(&quiz, shape)[kind];
        }
        MemoryKind kind = (MemoryKind)(i % MEMORY_KINDS);
        if (got.bytes[kind] != right.bytes[kind]) {
            check_fail(check, "%s: %zu bytes of %s, %zu are right: %s",
                       way_text(way, quiz.name[shape]), got.bytes[kind], memory_kind_name(kind),
                       right.bytes[kind], states_mistake(got, right, config, way, kind));
            return;
        }
    }
    check_good(check);
}

static const char *gathered_mistake(MemoryKind kind, const ModelConfig *config, const int32_t *way,
                                    size_t got, size_t right) {
    if (kind > MEMORY_GRADIENTS) {
        return "weights and gradients alone come and go";
    }
    if (right == 0) {
        return kind == MEMORY_WEIGHTS ? "weights come and go at stage 3 alone"
                                      : "gradients come and go from stage 2 on";
    }
    if (got == 0) {
        return way[0] == 2 ? "at stage 2 gradients come and go" : "at stage 3 both come and go";
    }
    if (got * (size_t)way[1] == right) {
        return "a unit that is here is whole: these are the bytes of one part, not of all R";
    }
    if (kind == MEMORY_WEIGHTS && got * precision_bytes(config->precision) == right * 4) {
        return "weights are in the model's precision, wherever they are";
    }
    return kind == MEMORY_WEIGHTS
               ? "one unit at a time: unit 0 or that of a block, whichever is larger"
               : "that of a block, beside unit 0, whose gradients stay up to the embedding's "
                 "backward; in float";
}

void held_gathered(Check *check) {
    Quiz quiz = {.check = check, .numbers = MEMORY_KINDS};
    int32_t ways[4 * WAYS];
    ask_ways(&quiz, ways);
    if (!quiz_run(&quiz, "formulas/gathered", SECONDS)) {
        return;
    }
    for (int i = 0; i < WAYS * MEMORY_KINDS; i++) {
        int shape = i / MEMORY_KINDS;
        const int32_t *way = ways + 4 * shape;
        MemoryKind kind = (MemoryKind)(i % MEMORY_KINDS);
        const ModelConfig *config = &quiz.shape[shape].config;
        MemoryUse right = zero_comes(config, way[0], way[1], false);
        size_t got = quiz_answer(&quiz, shape)[kind];
        if (got != right.bytes[kind]) {
            check_fail(check, "%s: %zu bytes of %s at most, %zu are right: %s",
                       way_text(way, quiz.name[shape]), got, memory_kind_name(kind),
                       right.bytes[kind],
                       gathered_mistake(kind, config, way, got, right.bytes[kind]));
            return;
        }
    }
    check_good(check);
}

void held_ahead(Check *check) {
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

void held_sent(Check *check) {
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
                       "%s, %d micro-batches: %llu bytes, %llu are right: gradients, in float, are "
                       "summed %s, weights gathered %s; each sends R - 1 parts",
                       way_text(way, quiz.name[i]), way[3], (unsigned long long)got,
                       (unsigned long long)right, way[0] == 1 ? "once" : "in each micro-batch",
                       way[0] < 3 ? "once" : "twice in each micro-batch");
            return;
        }
    }
    check_good(check);
}
