#include "grader/labs/04_checkpoint/bytes.h"

#include <stdio.h>
#include <string.h>

#include "grader/labs/04_checkpoint/bytes_as.h"
#include "grader/labs/04_checkpoint/expect.h"

size_t checkpoint_counted(const Shape *shape) {
    if (shape->config.C >= HUGE_CHANNELS) {
        return peak_worked_out(&shape->config, shape->B, shape->T, shape->checkpoint);
    }
    return (size_t)shape->B * peak_activations(&shape->config, 1, shape->T, shape->checkpoint);
}

static const char *checkpoint_text(const Shape *s, char text[120]) {
    snprintf(text, 120, "%s %s V%d L%d NH%d C%d (%d,%d) segment %d%s",
             precision_name(s->config.precision),
             s->config.attention == ATTENTION_PLAIN ? "plain" : "flash", s->config.V, s->config.L,
             s->config.NH, s->config.C, s->B, s->T, s->checkpoint.segment,
             s->checkpoint.attention_only ? " attention only" : "");
    return text;
}

static const char checkpoint_moments[] =
    "look at three moments: the head's backward, that of the last segment's last block, and that "
    "of the segment before";

/* Whether the mistake gives all answers, right ones too. */
static bool mistake_explains(const Quiz *quiz, CheckpointBytes mistake) {
    for (int i = 0; i < quiz->count; i++) {
        if (*quiz_answer(quiz, i) != checkpoint_bytes_as(&quiz->shape[i], mistake)) {
            return false;
        }
    }
    return true;
}

/* Which answers are wrong, by their sizes. */
typedef struct WrongSizes {
    bool only_large; /* all of them are beyond an int */
    bool wrapped;    /* all of them agree in their last 32 bits */
} WrongSizes;

static WrongSizes sizes_of_wrong(const Quiz *quiz) {
    WrongSizes wrong = {true, true};
    for (int i = 0; i < quiz->count; i++) {
        size_t right = checkpoint_counted(&quiz->shape[i]), got = *quiz_answer(quiz, i);
        if (got != right) {
            wrong.only_large = wrong.only_large && right > INT32_MAX;
            wrong.wrapped = wrong.wrapped && (uint32_t)got == (uint32_t)right;
        }
    }
    return wrong;
}

/* The sentence about the mistake that explains everything; NULL: none does, or several do. */
static const char *mistake_in_all(const Quiz *quiz) {
    const char *said = NULL;
    for (CheckpointBytes mistake = BYTES_RIGHT + 1; mistake < BYTES_MISTAKES; mistake++) {
        const char *sentence = checkpoint_bytes_sentence[mistake];
        if (mistake_explains(quiz, mistake)) {
            if (said != NULL && strcmp(said, sentence) != 0) {
                return NULL;
            }
            said = sentence;
        }
    }
    return said;
}

static const char *mistake_or_advice(const Quiz *quiz) {
    const char *said = mistake_in_all(quiz);
    WrongSizes wrong = sizes_of_wrong(quiz);
    return said != NULL    ? said
           : wrong.wrapped ? "an int holds no more than 2^31 - 1: sizes are computed in size_t"
           : wrong.only_large
               ? "only what is beyond 2^31 bytes is wrong: each size is made a size_t before it is "
                 "multiplied by another, and no float or int is in between"
               : checkpoint_moments;
}

void checkpoint_check_bytes(Quiz *quiz) {
    Check *check = quiz->check;
    char text[120];
    if (!quiz_run(quiz, "formulas/bytes", SECONDS)) {
        return;
    }
    for (int i = 0; i < quiz->count; i++) {
        const Shape *shape = &quiz->shape[i];
        size_t right = checkpoint_counted(shape), got = *quiz_answer(quiz, i);
        CHECK(right == checkpoint_bytes_as(shape, BYTES_RIGHT),
              "what is counted is not what is worked out");
        if (got != right) {
            check_fail(check, "%s: predicted %llu, counted %zu: %s",
                       checkpoint_text(&quiz->shape[i], text), (unsigned long long)got, right,
                       mistake_or_advice(quiz));
            return;
        }
    }
    check_good(check);
}
