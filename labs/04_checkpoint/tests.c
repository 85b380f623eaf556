/* Lab 04, judged: a run of the student's step must leave the very bits that the kit's plain step
   leaves, which runs in a second probe where the submission is linked but never called. Memory is
   judged by a budget: the arena is that small, so a step that does not fit ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grader/check.h"
#include "grader/judges/04_expect.h"

enum { MOST_SHAPES = 12 };

/* ---- task 1 ---------------------------------------------------------------------------------- */

GRADED(04_checkpoint, whole_blocks, 12, "task 1: the bits of a plain step, every block run again") {
    same_as_plain(small_run(check, 4, (Checkpoint){.segment = 1}, 0, false));
}

GRADED(04_checkpoint, whole_blocks_memory, 10,
       "task 1: in the memory of one block and all inputs") {
    same_as_plain(large_run(check, large_config(), (Checkpoint){.segment = 1}));
}

/* ---- task 2 ---------------------------------------------------------------------------------- */

GRADED(04_checkpoint, segments, 10, "task 2: segments of 2 for 5 blocks") {
    same_as_plain(small_run(check, 5, (Checkpoint){.segment = 2}, 0, false));
}

GRADED(04_checkpoint, segments_memory, 10, "task 2: segments of 3 for 8 blocks, in their memory") {
    same_as_plain(large_run(check, large_config(), (Checkpoint){.segment = 3}));
}

/* ---- task 3 ---------------------------------------------------------------------------------- */

GRADED(04_checkpoint, dropout, 12, "task 3: the same masks again, two micro-batches, two steps") {
    same_as_plain(small_run(check, 5, (Checkpoint){.segment = 2}, 0.3f, false));
}

GRADED(04_checkpoint, stream, 5, "task 3: the dropout stream ends where a plain step ends it") {
    Run *run = small_run(check, 5, (Checkpoint){.segment = check_int(check, 1, 2)}, 0.3f, false);
    if (run_both(run)) {
        expect_stream(run);
    }
}

GRADED(04_checkpoint, dropout_gpu, 5, "task 3: the same on the simulated GPU") {
    same_as_plain(small_run(check, 4, (Checkpoint){.segment = 2}, 0.3f, true));
}

/* ---- task 4 ---------------------------------------------------------------------------------- */

GRADED(04_checkpoint, attention, 8, "task 4: attention runs again, with and without segments") {
    enum { L = 5 };
    int S = check_int(check, 0, 1) * 2;
    Run *run = small_run(check, L, (Checkpoint){S, true}, 0.3f, false);
    if (same_as_plain(run)) {
        expect_forwards(run, S > 0 ? 2 * L : L);
    }
}

GRADED(04_checkpoint, attention_memory, 8, "task 4: without the memory of the probabilities") {
    same_as_plain(large_run(check, large_config(), (Checkpoint){.attention_only = true}));
}

/* ---- how often ------------------------------------------------------------------------------- */

GRADED(04_checkpoint, forwards, 3, "tasks 1, 2: no block runs more than twice") {
    Run *run = small_run(check, 7, (Checkpoint){.segment = 3}, 0, false);
    if (run_both(run)) {
        expect_forwards(run, 2 * run->config.L);
    }
}

/* ---- task 5: bytes --------------------------------------------------------------------------- */

/* Questions to a formula. */
typedef struct Quiz {
    Check *check;
    Shape shape[MOST_SHAPES];
    int count;
} Quiz;

/* A batch that no machine here holds: each number of it belongs to one of its sequences. */
enum { HUGE_BATCH = 1 << 20 };

static size_t counted(const Shape *shape) {
    MemoryUse use;
    if (shape->B == HUGE_BATCH) {
        Shape one = *shape;
        one.B = 1;
        return HUGE_BATCH * counted(&one);
    }
    peak_of(&shape->config, shape->B, shape->T, shape->checkpoint, false, &use);
    return use.bytes[MEMORY_ACTIVATIONS];
}

/* Sizes that do not divide each other; `wide`: the block's backward is the peak, not the head's. */
static void ask(Quiz *quiz, Precision precision, Attention attention, bool wide,
                Checkpoint checkpoint) {
    Check *check = quiz->check;
    ModelConfig config = {.V = wide ? check_int(check, 256, 280) : check_int(check, 600, 900),
                          .T = check_int(check, 20, 40),
                          .L = check_int(check, 5, 9),
                          .NH = check_int(check, 2, 4),
                          .dropout = 0.1f,
                          .precision = precision,
                          .attention = attention};
    config.C =
        config.NH * (wide ? 108 / config.NH + check_int(check, 0, 4) : check_int(check, 8, 16));
    quiz->shape[quiz->count++] =
        (Shape){config, check_int(check, 2, 4), check_int(check, 11, config.T - 2), checkpoint};
}

static void give_shapes(const Quiz *quiz) {
    int32_t numbers[MOST_SHAPES * SHAPE_NUMBERS];
    for (int i = 0; i < quiz->count; i++) {
        shape_numbers(&quiz->shape[i], numbers + i * SHAPE_NUMBERS);
    }
    check_give(quiz->check, "shapes", WIRE_I32, numbers, (size_t)(quiz->count * SHAPE_NUMBERS));
}

static const char *shape_text(const Shape *s, char text[120]) {
    snprintf(text, 120, "%s %s V%d L%d NH%d C%d (%d,%d) segment %d%s",
             precision_name(s->config.precision),
             s->config.attention == ATTENTION_PLAIN ? "plain" : "flash", s->config.V, s->config.L,
             s->config.NH, s->config.C, s->B, s->T, s->checkpoint.segment,
             s->checkpoint.attention_only ? " attention only" : "");
    return text;
}

/* By how much known mistakes are off. */
static const char *bytes_mistake(const Shape *s, size_t got, size_t right) {
    const ModelConfig *c = &s->config;
    long number = (long)precision_bytes(c->precision), N = (long)s->B * s->T;
    long stream = N * c->C * number, probs = N * c->NH * s->T * number;
    long head = 2 * stream + N * (c->V * number + 16), backward = 5 * stream;
    long off = (long)got - (long)right, S = s->checkpoint.segment, L = c->L;
    Shape plain = *s, longest = *s, whole = *s;
    if ((uint32_t)got == (uint32_t)right) {
        return "an int holds no more than 2^31 - 1: sizes are computed in size_t";
    }
    plain.checkpoint = (Checkpoint){0};
    longest.T = c->T;
    whole.checkpoint.attention_only = false;
    if (s->checkpoint.attention_only && got == counted(&whole)) {
        return "with attention_only the probabilities of a block are no longer kept";
    }
    if (got == counted(&plain)) {
        return "these are the bytes of a plain step";
    }
    if (got == counted(&longest)) {
        return "the sequences have T tokens (the argument), not config->T";
    }
    if (s->checkpoint.attention_only && (off == -probs || off == probs)) {
        return "with attention_only one block at a time has its probabilities: the one that runs "
               "backward, not the one below the head";
    }
    if (off == -labs(head - backward) || off == head || off == backward) {
        return "the head's backward and a block's are never at the same time: the larger counts";
    }
    if (off == stream || off == -stream) {
        return "one tensor of the residual stream too many or too few: dx, x[0], and the output of "
               "each segment but the last; blocks that are kept have their own outputs";
    }
    if (S > 0 && S < L && L % S != 0) {
        return "L is no multiple of the segment: the last one is short, and another moment may be "
               "the peak";
    }
    return "look at three moments: the head's backward, that of the last segment's last block, and "
           "that of the segment before";
}

static void bytes_check(Quiz *quiz) {
    Check *check = quiz->check;
    char text[120];
    give_shapes(quiz);
    check_want(check, "bytes", WIRE_U64, (size_t)quiz->count);
    if (!check_run(check, "bytes", SECONDS)) {
        return;
    }
    const uint64_t *got = check_got(check, "bytes", WIRE_U64);
    for (int i = 0; i < quiz->count; i++) {
        size_t right = counted(&quiz->shape[i]);
        if (got[i] != right) {
            check_fail(check, "%s: predicted %llu, counted %zu: %s",
                       shape_text(&quiz->shape[i], text), (unsigned long long)got[i], right,
                       bytes_mistake(&quiz->shape[i], got[i], right));
            return;
        }
    }
    check_good(check);
}

GRADED(04_checkpoint, bytes, 6, "task 5: predicted = counted, with segments") {
    Quiz quiz = {.check = check};
    for (int i = 0; i < 8; i++) {
        ask(&quiz, (Precision)(i % 3), ATTENTION_PLAIN, i % 2, (Checkpoint){1 + i / 2, false});
    }
    ask(&quiz, F32, ATTENTION_PLAIN, true, (Checkpoint){0});
    ask(&quiz, F32, ATTENTION_PLAIN, true, (Checkpoint){2, false});
    quiz.shape[quiz.count - 1].B = HUGE_BATCH;
    bytes_check(&quiz);
}

GRADED(04_checkpoint, bytes_attention, 3, "task 5: flash attention, and attention only") {
    Quiz quiz = {.check = check};
    ask(&quiz, F32, ATTENTION_FLASH, false, (Checkpoint){2, false});
    for (int i = 0; i < 8; i++) {
        ask(&quiz, (Precision)(i % 3), i == 3 ? ATTENTION_FLASH : ATTENTION_PLAIN, i % 2,
            (Checkpoint){i / 4 * (2 + i % 2), true});
    }
    bytes_check(&quiz);
}

/* ---- task 5: the choice ---------------------------------------------------------------------- */

static int runs_again(int L, int S) {
    return (L - 1) / S * S;
}

/* The right choice by counted bytes; 0 where none fits. */
static int best_segment(Shape shape, size_t budget) {
    int best = 0, L = shape.config.L;
    size_t best_bytes = 0;
    for (int S = 1; S <= L; S++) {
        shape.checkpoint = (Checkpoint){.segment = S};
        size_t bytes = counted(&shape);
        int again = runs_again(L, S), least = best > 0 ? runs_again(L, best) : L;
        if (bytes <= budget && (again < least || (again == least && bytes < best_bytes))) {
            best = S;
            best_bytes = bytes;
        }
    }
    return best;
}

static size_t bytes_of(Shape shape, int S) {
    shape.checkpoint.segment = S;
    return S > 0 ? counted(&shape) : 0;
}

/* What no segment can do with. */
static size_t least_bytes(Shape shape) {
    size_t least = bytes_of(shape, 1);
    for (int S = 2; S <= shape.config.L; S++) {
        least = bytes_of(shape, S) < least ? bytes_of(shape, S) : least;
    }
    return least;
}

/* Both neighbours of a wrong choice are measured, and the better one is named. */
static bool expect_choice(Check *check, const Shape *shape, size_t budget, uint64_t got) {
    int L = shape->config.L, best = best_segment(*shape, budget);
    if (got == (uint64_t)best) {
        check_good(check);
        return true;
    }
    if (best == 0) {
        check_fail(check, "%zu bytes: nothing fits, the least is %zu; the answer is 0", budget,
                   least_bytes(*shape));
    } else if (got < 1 || got > (uint64_t)L) {
        check_fail(check, "%zu bytes: %lld is no segment of %d blocks, and segment %d fits", budget,
                   (long long)got, L, best);
    } else if (bytes_of(*shape, (int)got) > budget) {
        check_fail(check,
                   "segment %d of %d blocks takes %zu bytes, and there are %zu; segment %d "
                   "takes %zu",
                   (int)got, L, bytes_of(*shape, (int)got), budget, best, bytes_of(*shape, best));
    } else {
        check_fail(check,
                   "segment %d of %d blocks fits into %zu bytes with %zu and runs %d blocks "
                   "again; segment %d fits with %zu and runs %d: look at every segment, the order "
                   "is not what it seems",
                   (int)got, L, budget, bytes_of(*shape, (int)got), runs_again(L, (int)got), best,
                   bytes_of(*shape, best), runs_again(L, best));
    }
    return false;
}

GRADED(04_checkpoint, segment, 5, "task 5: the segment for budgets that nobody has seen") {
    Quiz quiz = {.check = check};
    uint64_t budget[MOST_SHAPES];
    for (int i = 0; i < 7; i++) {
        ask(&quiz, i == 5 ? F16 : F32, (Attention)(i % 2), i % 3 > 0, (Checkpoint){0});
        Shape *shape = &quiz.shape[i];
        shape->config.L = check_int(check, 6, 9);
        size_t least = bytes_of(*shape, 1), most = bytes_of(*shape, shape->config.L);
        budget[i] = least + (most - least) / 6 * (size_t)i + (size_t)check_int(check, 0, 999);
    }
    budget[0] = least_bytes(quiz.shape[0]) - 1;
    /* To the byte; and room for two segments that run as many blocks again. */
    budget[6] = bytes_of(quiz.shape[6], quiz.shape[6].config.L);
    quiz.shape[1].config.L = 9;
    budget[1] = bytes_of(quiz.shape[1], 2);
    give_shapes(&quiz);
    check_give(check, "budgets", WIRE_U64, budget, (size_t)quiz.count);
    check_want(check, "segment", WIRE_U64, (size_t)quiz.count);
    if (check_run(check, "segment", SECONDS)) {
        const uint64_t *got = check_got(check, "segment", WIRE_U64);
        for (int i = 0; i < quiz.count; i++) {
            if (!expect_choice(check, &quiz.shape[i], budget[i], got[i])) {
                return;
            }
        }
    }
}

GRADED(04_checkpoint, fits, 3, "task 5: the chosen segment runs in its budget") {
    ModelConfig config = large_config();
    config.L = 9;
    config.C = 64;
    Shape shape = {config, 4, config.T, {.segment = check_int(check, 3, 5)}};
    Run *run = large_run(check, config, shape.checkpoint);
    run->choose = counted(&shape) + (size_t)check_int(check, 0, 9999);
    run->checkpoint.segment = best_segment(shape, run->choose);
    if (same_as_plain(run)) {
        expect_forwards(run, config.L + runs_again(config.L, run->checkpoint.segment));
    }
}
