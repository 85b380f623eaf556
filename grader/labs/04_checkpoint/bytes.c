#include "grader/labs/04_checkpoint/bytes.h"

#include <stdio.h>
#include <stdlib.h>

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

/* The peak, if only moments counted in which the last segment is there. */
static size_t checkpoint_of_last_segment(const Shape *s) {
    Shape one = *s, two = *s;
    one.checkpoint.segment = two.checkpoint.segment = 0;
    one.config.L = 1;
    two.config.L = 2;
    size_t least = checkpoint_counted(&one), block = checkpoint_counted(&two) - least;
    size_t stream =
        (size_t)s->B * (size_t)(s->T * s->config.C) * precision_bytes(s->config.precision);
    int L = s->config.L, before = s->checkpoint.segment > 0 ? (L - 1) / s->checkpoint.segment : 0;
    return least + (size_t)before * stream +
           (size_t)(L - before * s->checkpoint.segment - 1) * block;
}

static const char checkpoint_moments[] =
    "look at three moments: the head's backward, that of the last segment's last block, and that "
    "of the segment before";

/* By how much known mistakes are off. */
static const char *checkpoint_mistake(const Shape *s, size_t got, size_t right) {
    const ModelConfig *c = &s->config;
    long number = (long)precision_bytes(c->precision), N = (long)s->B * s->T;
    long stream = N * c->C * number, probs = N * c->NH * s->T * number;
    long row = logits_stride(c->V), padding = N * (row - c->V) * number;
    long head = 2 * stream + N * (row * number + 16), backward = 5 * stream;
    long off = (long)got - (long)right;
    Shape plain = *s, longest = *s, whole = *s, filled = *s;
    int S = s->checkpoint.segment;
    if ((uint32_t)got == (uint32_t)right) {
        return "an int holds no more than 2^31 - 1: sizes are computed in size_t";
    }
    plain.checkpoint = (Checkpoint){0};
    longest.T = c->T;
    filled.config.L = S > 0 && S < c->L ? (c->L + S - 1) / S * S : c->L;
    whole.checkpoint.attention_only = false;
    if (s->checkpoint.attention_only && got == checkpoint_counted(&whole)) {
        return "with attention_only the probabilities of a block are no longer kept";
    }
    if (got == checkpoint_counted(&plain)) {
        return "these are the bytes of a plain step";
    }
    if (got == checkpoint_counted(&filled)) {
        return "the last segment is counted as a full one: it has the blocks that are left";
    }
    if (got == checkpoint_counted(&longest)) {
        return "the sequences have T tokens (the argument), not config->T";
    }
    if (s->checkpoint.attention_only && (off == -probs || off == probs)) {
        return "with attention_only one block at a time has its probabilities: the one that runs "
               "backward, not the one below the head";
    }
    if (off == -labs(head - backward) || off == head || off == backward) {
        return "the head's backward and a block's are never at the same time: the larger counts";
    }
    if (off == -padding) {
        return "a row of logits takes V numbers rounded up to a multiple of 64: logits_stride(V)";
    }
    if (off == stream || off == -stream) {
        return "one tensor of the residual stream too many or too few: dx, x[0], and the output of "
               "each segment but the last; blocks that are kept have their own outputs";
    }
    if (got == checkpoint_of_last_segment(s)) {
        return "L is not a multiple of the segment: the last one is short, and another moment may "
               "be "
               "the peak";
    }
    return checkpoint_moments;
}

/* The sentence about most wrong answers: some of them may look like another mistake by chance. */
static const char *checkpoint_common_mistake(const Quiz *quiz) {
    const char *said[QUIZ_SHAPES], *common = NULL;
    int count = 0, most = 0;
    bool only_large = true, wrapped = true;
    for (int i = 0; i < quiz->count; i++) {
        size_t right = checkpoint_counted(&quiz->shape[i]), got = *quiz_answer(quiz, i);
        if (got != right) {
            said[count++] = checkpoint_mistake(&quiz->shape[i], got, right);
            only_large = only_large && right > INT32_MAX;
            wrapped = wrapped && (uint32_t)got == (uint32_t)right;
        }
    }
    if (only_large && !wrapped) {
        return "only what is beyond 2^31 bytes is wrong: each size is made a size_t before it is "
               "multiplied by another, and no float or int is in between";
    }
    for (int i = 0; i < count; i++) {
        int times = 0;
        for (int k = 0; k < count; k++) {
            times += said[k] == said[i];
        }
        common = times > most ? said[i] : common;
        most = times > most ? times : most;
    }
    return 2 * most > count ? common : checkpoint_moments;
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
        CHECK(right == peak_worked_out(&shape->config, shape->B, shape->T, shape->checkpoint),
              "what is counted is not what is worked out");
        if (got != right) {
            check_fail(check, "%s: predicted %llu, counted %zu: %s",
                       checkpoint_text(&quiz->shape[i], text), (unsigned long long)got, right,
                       checkpoint_common_mistake(quiz));
            return;
        }
    }
    check_good(check);
}
