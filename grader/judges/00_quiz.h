/**
 * @file 00_quiz.h
 * @brief Judge of lab 00: asks the submission about shapes, and knows which mistake gives which
 * number.
 * @ingroup grader
 */
#ifndef GRADER_JUDGES_00_QUIZ_H
#define GRADER_JUDGES_00_QUIZ_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/block.h"
#include "common/trainer.h"
#include "grader/check.h"

enum { SHAPE_NUMBERS = 9, MOST_SHAPES = 8, SECONDS = 10, THREADS = 3 };

/* One question. */
typedef struct Shape {
    ModelConfig config;
    int B, T;
} Shape;

/* An answer: one number in bytes[0], or one for each kind of memory. */
typedef MemoryUse answer_fn(const Shape *shape);

/* A known mistake, and what it answers. */
typedef struct Mistake {
    const char *sentence;
    answer_fn *answer;
} Mistake;

/* The questions of a check. */
typedef struct Quiz {
    Check *check;
    Shape shape[MOST_SHAPES];
    char name[MOST_SHAPES][WIRE_NAME];
    int count;
    size_t numbers; /* of one answer: 1 or MEMORY_KINDS */
} Quiz;

static inline MemoryUse one(size_t bytes) {
    return (MemoryUse){{bytes}};
}

/* ---- asking ---------------------------------------------------------------------------------- */

/* A random shape whose sizes do not divide each other; V is no multiple of 64. */
static inline Shape random_shape(Check *check, Precision precision, Attention attention) {
    ModelConfig config = {.V = 64 * check_int(check, 4, 8) + check_int(check, 1, 63),
                          .T = check_int(check, 13, 40),
                          .L = check_int(check, 2, 4),
                          .NH = check_int(check, 2, 4),
                          .dropout = 0.1f,
                          .precision = precision,
                          .attention = attention};
    config.C = config.NH * check_int(check, 5, 12);
    return (Shape){config, check_int(check, 2, 4), check_int(check, 5, config.T - 2)};
}

static inline void ask(Quiz *quiz, Shape shape) {
    const ModelConfig *c = &shape.config;
    char *name = quiz->name[quiz->count];
    int length =
        snprintf(name, WIRE_NAME, "%s %s V%d T%d L%d NH%d C%d (%d,%d)",
                 precision_name(c->precision), c->attention == ATTENTION_PLAIN ? "plain" : "flash",
                 c->V, c->T, c->L, c->NH, c->C, shape.B, shape.T);
    CHECK(length < WIRE_NAME && quiz->count < MOST_SHAPES, "too long or too many: %s", name);
    quiz->shape[quiz->count++] = shape;
    check_want(quiz->check, name, WIRE_U64, quiz->numbers);
}

static inline bool run(Quiz *quiz, const char *probe_case) {
    int32_t numbers[MOST_SHAPES * SHAPE_NUMBERS], *n = numbers;
    int32_t threads = check_on_gpu() ? 0 : THREADS;
    float dropout[MOST_SHAPES];
    for (int i = 0; i < quiz->count; i++) {
        const Shape *s = &quiz->shape[i];
        const ModelConfig *c = &s->config;
        int32_t shape[] = {
            c->V, c->T, c->L, c->NH, c->C, (int32_t)c->precision, (int32_t)c->attention,
            s->B, s->T};
        for (int j = 0; j < SHAPE_NUMBERS; j++) {
            *n++ = shape[j];
        }
        dropout[i] = c->dropout;
    }
    check_give(quiz->check, "shapes", WIRE_I32, numbers, (size_t)(n - numbers));
    check_give(quiz->check, "dropout", WIRE_F32, dropout, (size_t)quiz->count);
    check_give(quiz->check, "names", WIRE_BYTES, quiz->name, (size_t)quiz->count * WIRE_NAME);
    check_give(quiz->check, "threads", WIRE_I32, &threads, 1);
    return check_run(quiz->check, probe_case, SECONDS);
}

static inline void to_numbers(uint64_t *numbers, MemoryUse use) {
    for (int kind = 0; kind < MEMORY_KINDS; kind++) {
        numbers[kind] = use.bytes[kind];
    }
}

/* Where no known mistake fits, at least which of the kinds is wrong. */
static inline void name_the_kind(char *text, size_t size, const uint64_t *got,
                                 const uint64_t *want) {
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

/* What an earlier task's mistake makes of this task's answer. */
typedef MemoryUse lift_fn(const Shape *shape, size_t earlier);

typedef struct Mistakes {
    const Mistake *list;
    int count;
    lift_fn *lift; /* NULL: they are this task's own */
} Mistakes;

#define MISTAKES(list, lift) ((Mistakes){list, (int)(sizeof(list) / sizeof *(list)), lift})

/* Compares one answer; only where it is wrong are the known mistakes worked out. */
static inline void expect_one(const Quiz *quiz, int i, answer_fn *right, const Mistakes *lists,
                              int list_count) {
    enum { MOST_MISTAKES = 48 };
    const Shape *shape = &quiz->shape[i];
    const uint64_t *got = check_got(quiz->check, quiz->name[i], WIRE_U64);
    uint64_t want[MEMORY_KINDS], value[MOST_MISTAKES][MEMORY_KINDS];
    ExactSuspect suspects[MOST_MISTAKES];
    char text[120];
    int count = 0;
    to_numbers(want, right(shape));
    bool wrong = memcmp(got, want, quiz->numbers * sizeof *got) != 0;
    for (int k = 0; wrong && k < list_count; k++) {
        for (int j = 0; j < lists[k].count && count < MOST_MISTAKES - 1; j++, count++) {
            MemoryUse use = lists[k].list[j].answer(shape);
            to_numbers(value[count], lists[k].lift ? lists[k].lift(shape, use.bytes[0]) : use);
            suspects[count] = (ExactSuspect){lists[k].list[j].sentence, value[count]};
        }
    }
    if (wrong && quiz->numbers == MEMORY_KINDS) {
        name_the_kind(text, sizeof text, got, want);
        suspects[count++] = (ExactSuspect){text, got};
    }
    check_equal(quiz->check, quiz->name[i], want, quiz->numbers, suspects, count);
}

static inline void expect(const Quiz *quiz, answer_fn *right, const Mistakes *lists,
                          int list_count) {
    for (int i = 0; i < quiz->count; i++) {
        expect_one(quiz, i, right, lists, list_count);
    }
}

#endif
