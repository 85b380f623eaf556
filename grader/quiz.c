/* Asks a formula about many shapes, and compares the answers. The contract is in quiz.h. */
#include "grader/quiz.h"

#include <stdio.h>

#include "kernels/base.h"

void quiz_add(Quiz *quiz, Shape shape) {
    CHECK(quiz->count < QUIZ_SHAPES, "more than %d shapes", QUIZ_SHAPES);
    quiz->shape[quiz->count++] = shape;
}

void quiz_add_twins(Quiz *quiz) {
    Shape twin = quiz->shape[quiz->count - 1];
    ModelConfig *config = &twin.config;
    config->precision = config->precision == F32 ? BF16 : F32;
    quiz_add(quiz, twin);
    config->V += 60;
    quiz_add(quiz, twin);
    config->L++;
    quiz_add(quiz, twin);
    config->C += config->NH;
    quiz_add(quiz, twin);
}

static void quiz_name(const Shape *shape, char name[WIRE_NAME]) {
    const ModelConfig *c = &shape->config;
    int length =
        snprintf(name, WIRE_NAME, "%s %s V%d T%d L%d NH%d C%d (%d,%d)",
                 precision_name(c->precision), c->attention == ATTENTION_PLAIN ? "plain" : "flash",
                 c->V, c->T, c->L, c->NH, c->C, shape->B, shape->T);
    CHECK(length < WIRE_NAME, "too long: %s", name);
}

bool quiz_run(Quiz *quiz, const char *probe_case, double seconds) {
    Check *check = quiz->check;
    int32_t numbers[QUIZ_SHAPES * SHAPE_NUMBERS], checkpoints[QUIZ_SHAPES * CHECKPOINT_NUMBERS];
    float dropout[QUIZ_SHAPES];
    for (int i = 0; i < quiz->count; i++) {
        const Shape *shape = &quiz->shape[i];
        shape_pack(shape, numbers + i * SHAPE_NUMBERS);
        checkpoints[i * CHECKPOINT_NUMBERS] = shape->checkpoint.segment;
        checkpoints[i * CHECKPOINT_NUMBERS + 1] = shape->checkpoint.attention_only;
        dropout[i] = shape->config.dropout;
        quiz_name(shape, quiz->name[i]);
        check_want(check, quiz->name[i], WIRE_U64, quiz->numbers);
    }
    size_t count = (size_t)quiz->count;
    check_give(check, "shapes", WIRE_I32, numbers, count * SHAPE_NUMBERS);
    check_give(check, "checkpoints", WIRE_I32, checkpoints, count * CHECKPOINT_NUMBERS);
    check_give(check, "dropout", WIRE_F32, dropout, count);
    check_give(check, "names", WIRE_BYTES, quiz->name, count * WIRE_NAME);
    return check_run(check, probe_case, seconds);
}

const uint64_t *quiz_answer(const Quiz *quiz, int i) {
    return check_got(quiz->check, quiz->name[i], WIRE_U64);
}
