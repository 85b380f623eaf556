#include "grader/labs/00_bytes/answers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grader/judge_kit.h"

MemoryUse answer_one(size_t bytes) {
    return (MemoryUse){{bytes}};
}

/* ---- asking ---------------------------------------------------------------------------------- */

Shape shape_random(Check *check, Precision precision, Attention attention) {
    ModelConfig config = {.V = 64 * check_int(check, 4, 8) + check_int(check, 1, 63),
                          .T = check_int(check, 13, 40),
                          .L = check_int(check, 2, 4),
                          .NH = check_int(check, 2, 4),
                          .dropout = 0.1f,
                          .precision = precision,
                          .attention = attention};
    config.C = config.NH * check_int(check, 5, 12);
    int B = check_int(check, 2, 4), T = check_int(check, 5, config.T - 2);
    return (Shape){.config = config, .B = B, .T = T};
}

/* What the ops take on the device: the probe has none. */
static void answers_give_scratch(const Quiz *quiz) {
    uint64_t scratch[QUIZ_SHAPES];
    Device *device = check_on_gpu() ? device_gpu_new(NULL) : judge_device(THREADS);
    CHECK(device != NULL, "there is no GPU");
    for (int i = 0; i < quiz->count; i++) {
        scratch[i] = device->workspace_bytes(device, &quiz->shape[i].config);
    }
    device_free(device);
    check_give(quiz->check, "scratch", WIRE_U64, scratch, (size_t)quiz->count);
}

bool answers_ask(Quiz *quiz, const char *probe_case) {
    int32_t threads = check_on_gpu() ? 0 : THREADS;
    check_give(quiz->check, "threads", WIRE_I32, &threads, 1);
    answers_give_scratch(quiz);
    return quiz_run(quiz, probe_case, SECONDS);
}

static void answer_numbers(uint64_t *numbers, MemoryUse use) {
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        numbers[kind] = use.bytes[kind];
    }
}

/* Where no known mistake fits, at least which of the kinds is wrong. */
static void answer_name_kind(char *text, size_t size, const uint64_t *got, const uint64_t *want) {
    int wrong = 0, count = 0;
    for (int kind = MEMORY_KINDS - 1; kind >= 0; kind--) {
        if (got[kind] != want[kind]) {
            wrong = kind;
            count++;
        }
    }
    snprintf(text, size, "number %d is \"%s\"; %s", wrong, memory_kind_name((MemoryKind)wrong),
             count == 1 ? "all other kinds are right"
                        : "and it is not the only kind that is wrong");
}

/* Compares one answer; only where it is wrong are the known mistakes worked out. */
static void answers_expect_one(const Quiz *quiz, int i, answer_fn *right, const Mistakes *lists,
                               int list_count) {
    enum { MOST_MISTAKES = 48 };
    const Shape *shape = &quiz->shape[i];
    const uint64_t *got = quiz_answer(quiz, i);
    uint64_t want[MEMORY_KINDS], value[MOST_MISTAKES][MEMORY_KINDS];
    ExactSuspect suspects[MOST_MISTAKES];
    char text[120];
    int count = 0;
    answer_numbers(want, right(shape));
    bool wrong = memcmp(got, want, quiz->numbers * sizeof *got) != 0;
    for (int k = 0; wrong && k < list_count; k++) {
        for (int j = 0; j < lists[k].count && count < MOST_MISTAKES - 1; j++, count++) {
            MemoryUse use = lists[k].list[j].answer(shape);
            answer_numbers(value[count], lists[k].lift ? lists[k].lift(shape, use.bytes[0]) : use);
            suspects[count] = (ExactSuspect){lists[k].list[j].sentence, value[count]};
        }
    }
    if (wrong && quiz->numbers == MEMORY_KINDS) {
        answer_name_kind(text, sizeof text, got, want);
        suspects[count++] = (ExactSuspect){text, got};
    }
    check_equal(quiz->check, quiz->name[i], want, quiz->numbers, suspects, count);
}

void answers_expect(const Quiz *quiz, answer_fn *right, const Mistakes *lists, int list_count) {
    for (int i = 0; i < quiz->count; i++) {
        answers_expect_one(quiz, i, right, lists, list_count);
    }
}
