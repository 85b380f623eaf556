/* Lab 04, judged: a run of the student's step must leave the very bits that the kit's plain step
   leaves, which runs in a second probe where the submission is linked but never called. Memory is
   judged by a budget: the arena is that small, so a step that does not fit ends. */
#include <limits.h>

#include "grader/check.h"
#include "grader/draws.h"
#include "grader/labs/04_checkpoint/bytes.h"
#include "grader/labs/04_checkpoint/expect.h"
#include "grader/labs/04_checkpoint/term.h"
#include "grader/quiz.h"

/* ---- task 1 ---------------------------------------------------------------------------------- */

GRADED(04_checkpoint, whole_blocks, "task 1: the bits of a plain step, every block run again") {
    run_same_as_plain(run_small(check, 4, (Checkpoint){.segment = 1}, 0, false));
}

GRADED(04_checkpoint, whole_blocks_memory, "task 1: in the memory of one block and all inputs") {
    run_same_as_plain(run_large(check, run_large_config(), (Checkpoint){.segment = 1}));
}

/* ---- task 2 ---------------------------------------------------------------------------------- */

GRADED(04_checkpoint, segments, "task 2: segments of 2 for 5 blocks") {
    CheckpointRun *run = run_small(check, 5, (Checkpoint){.segment = 2}, 0, false);
    run_add_other(run, (ModelConfig){.L = 5}, (Checkpoint){.segment = INT_MAX});
    run_same_as_plain(run);
}

GRADED(04_checkpoint, segments_memory, "task 2: segments of 3 for 8 blocks, in their memory") {
    run_same_as_plain(run_large(check, run_large_config(), (Checkpoint){.segment = 3}));
}

/* ---- task 3 ---------------------------------------------------------------------------------- */

GRADED(04_checkpoint, dropout, "task 3: the same masks again, two micro-batches, two steps") {
    run_same_as_plain(run_small(check, 5, (Checkpoint){.segment = 2}, 0.3f, false));
}

GRADED(04_checkpoint, stream, "task 3: the dropout stream ends where a plain step ends it") {
    CheckpointRun *run =
        run_small(check, 5, (Checkpoint){.segment = check_int(check, 1, 2)}, 0.3f, false);
    run_add_other(run, (ModelConfig){.L = 130, .dropout = 0.3f}, (Checkpoint){.segment = 1});
    run_add_changing(run, (ModelConfig){.L = 24, .dropout = 0.3f}, (Checkpoint){.segment = 1},
                     (Checkpoint){.segment = 5});
    if (run_both(run)) {
        run_expect_stream(run);
        run_expect_others(run);
    }
}

GRADED(04_checkpoint, dropout_gpu, "task 3: the same on the simulated GPU") {
    run_same_as_plain(run_small(check, 4, (Checkpoint){.segment = 2}, 0.3f, true));
}

/* ---- task 4 ---------------------------------------------------------------------------------- */

/* Without segments, in memory that has no room for the probabilities either. */
GRADED(04_checkpoint, attention, "task 4: attention runs again, and no block") {
    CheckpointRun *run = run_small(check, 5, (Checkpoint){.attention_only = true}, 0.3f, false);
    run_add_other(run, (ModelConfig){.L = 4, .attention = ATTENTION_FLASH},
                  (Checkpoint){.attention_only = true});
    run_add_other(run, (ModelConfig){.L = 4, .precision = F16, .dropout = 0.3f},
                  (Checkpoint){2, true});
    run_add_changing(run, (ModelConfig){.L = 4}, (Checkpoint){0},
                     (Checkpoint){.attention_only = true});
    if (run_same_as_plain(run)) {
        run_expect_forwards(run, run->config.L);
    }
}

/* With a vocabulary this large the head is the peak, where the last block's probabilities are too
   much. Two segments: what runs again keeps none either. */
GRADED(04_checkpoint, attention_memory, "task 4: without the memory of the probabilities") {
    ModelConfig config = run_large_config();
    config.V = 2000;
    config.dropout = 0.3f;
    CheckpointRun *run = run_large(check, config, (Checkpoint){config.L / 2, true});
    if (run_same_as_plain(run)) {
        run_expect_forwards(run, config.L + config.L / 2);
    }
}

/* ---- how often ------------------------------------------------------------------------------- */

GRADED(04_checkpoint, forwards, "tasks 1, 2: no block runs more than twice") {
    CheckpointRun *run = run_small(check, 7, (Checkpoint){.segment = 3}, 0, false);
    run_add_other(run, (ModelConfig){.L = 24}, (Checkpoint){.segment = 1});
    run_add_other(run, (ModelConfig){.L = 5, .precision = BF16, .dropout = 0.3f},
                  (Checkpoint){.segment = 2});
    if (run_same_as_plain(run)) {
        run_expect_forwards(run, 2 * run->config.L);
    }
}

/* ---- task 5: bytes --------------------------------------------------------------------------- */

/* Sizes that do not divide each other; `wide`: the block's backward is the peak, not the head's. */
static void checkpoint_ask(Quiz *quiz, Precision precision, Attention attention, bool wide,
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
        config.NH * (wide ? 112 / config.NH + check_int(check, 0, 4) : check_int(check, 8, 16));
    int B = check_int(check, 2, 4), T = check_int(check, 11, config.T - 2);
    quiz_add(quiz, (Shape){config, B, T, checkpoint});
}

/* The models of GPT-2, in batches whose bytes are on both sides of 2^24, 2^31 and 2^32. */
static void checkpoint_ask_large(Quiz *quiz) {
    static const int power[] = {24, 31, 32};
    for (int i = 0; i < 3; i++) {
        bool large = i > 0;
        int T = large ? 1024 : 16;
        ModelConfig config = {.V = 50257,
                              .T = 1024,
                              .L = large ? 48 : 12,
                              .NH = large ? 25 : 12,
                              .C = large ? 1600 : 768};
        Checkpoint checkpoint = {.segment = check_int(quiz->check, 1, 3)};
        size_t one = peak_worked_out(&config, 1, T, checkpoint);
        int B = (int)(((size_t)1 << power[i]) / one);
        quiz_add(quiz, (Shape){config, B > 0 ? B : 1, T, checkpoint});
        quiz_add(quiz, (Shape){config, B + 1, T, checkpoint});
    }
    const Shape *last = &quiz->shape[quiz->count - 1];
    check_size(quiz->check, "beyond 2^32 bytes", checkpoint_counted(last) > UINT32_MAX);
}

/* Sizes of which the product of any two does not fit into an int: many sequences; then one that is
   long, of a wide model. */
static void checkpoint_ask_wide_products(Quiz *quiz, Checkpoint checkpoint) {
    Check *check = quiz->check;
    ModelConfig many = {.V = 300, .T = 40, .L = 5, .NH = 8, .C = 16};
    ModelConfig one = {.V = 99999, .T = 99000, .L = 5, .NH = 8, .C = 30000};
    int odd = 2 * quiz->count + 1; /* another one each time */
    quiz_add(quiz, (Shape){many, (1 << 28) + odd, check_int(check, 17, 39), checkpoint});
    quiz_add(quiz, (Shape){one, 1, one.T - odd, checkpoint});
}

/* One block, and many; a segment that is longer than all of them; a vocabulary of whole 64. */
static void checkpoint_ask_ends(Quiz *quiz) {
    Check *check = quiz->check;
    checkpoint_ask(quiz, F32, ATTENTION_PLAIN, true, (Checkpoint){check_int(check, 0, 1), false});
    quiz->shape[quiz->count - 1].config.L = 1;
    checkpoint_ask(quiz, F32, ATTENTION_PLAIN, true, (Checkpoint){7, false});
    quiz->shape[quiz->count - 1].config.L = check_int(check, 100, 130);
    checkpoint_ask(quiz, F32, ATTENTION_PLAIN, false, (Checkpoint){INT_MAX, false});
    quiz->shape[quiz->count - 1].config.V = 64 * check_int(check, 10, 14);
}

GRADED(04_checkpoint, bytes, "task 5: predicted = counted, with segments") {
    Quiz quiz = {.check = check, .numbers = 1};
    for (int i = 0; i < 8; i++) {
        checkpoint_ask(&quiz, (Precision)(i % 3), ATTENTION_PLAIN, i % 2,
                       (Checkpoint){1 + i / 2, false});
    }
    quiz_add_twins(&quiz);
    checkpoint_ask(&quiz, F32, ATTENTION_PLAIN, true, (Checkpoint){0});
    checkpoint_ask(&quiz, F32, ATTENTION_PLAIN, true, (Checkpoint){2, false});
    quiz.shape[quiz.count - 1].B = HUGE_BATCH;
    checkpoint_ask_large(&quiz);
    checkpoint_ask_wide_products(&quiz, (Checkpoint){2, false});
    checkpoint_ask_wide_products(&quiz, (Checkpoint){0, false});
    checkpoint_check_bytes(&quiz);
}

GRADED(04_checkpoint, bytes_attention, "task 5: flash attention, and attention only") {
    Quiz quiz = {.check = check, .numbers = 1};
    checkpoint_ask(&quiz, F32, ATTENTION_FLASH, false, (Checkpoint){2, false});
    for (int i = 0; i < 8; i++) {
        checkpoint_ask(&quiz, (Precision)(i % 3), i == 3 ? ATTENTION_FLASH : ATTENTION_PLAIN, i % 2,
                       (Checkpoint){i / 4 * (2 + i % 2), true});
    }
    quiz_add_twins(&quiz);
    /* The probabilities of one block alone are more than 32 bits count. */
    checkpoint_ask(&quiz, F32, ATTENTION_PLAIN, true, (Checkpoint){2, true});
    quiz.shape[quiz.count - 1].B = 8 * HUGE_BATCH;
    checkpoint_ask_wide_products(&quiz, (Checkpoint){0, true});
    checkpoint_ask_wide_products(&quiz, (Checkpoint){2, true});
    checkpoint_ask_ends(&quiz);
    checkpoint_check_bytes(&quiz);
}

/* ---- task 5: the choice ---------------------------------------------------------------------- */

static int segment_runs_again(int L, int S) {
    return (L - 1) / S * S;
}

/* Of segments that run as many blocks again, the one to take. */
typedef enum SegmentTie { TIE_FEWER_BYTES, TIE_SMALLER, TIE_LARGER } SegmentTie;

typedef enum SegmentMistake {
    SEGMENT_RIGHT,
    SEGMENT_BEHIND_FIRST,
    SEGMENT_WHOLE_ONES,
    SEGMENT_FULL_REFUSED,
    SEGMENT_NO_PLAIN_STEP,
    SEGMENT_ENDS_EARLY,
    SEGMENT_MISTAKES,
} SegmentMistake;

static const char *const segment_sentence[SEGMENT_MISTAKES] = {
    [SEGMENT_BEHIND_FIRST] =
        "the largest segment that fits is taken, or L - S blocks for those that run again: these "
        "are all before the last segment, which may be short",
    [SEGMENT_WHOLE_ONES] = "all whole segments are taken for those that run again: where segments "
                           "divide the blocks, the last one does not",
    [SEGMENT_FULL_REFUSED] = "a segment that takes the budget to the last byte fits, too",
    [SEGMENT_NO_PLAIN_STEP] = "a segment of all L blocks is one, too: it is a plain step",
    [SEGMENT_ENDS_EARLY] = "the search ends with the first segment that does not fit: a larger one "
                           "may take less",
};

/* The blocks that a segment of S is taken to run again. */
static int segment_again_as(int L, int S, SegmentMistake mistake) {
    return mistake == SEGMENT_BEHIND_FIRST ? L - S
           : mistake == SEGMENT_WHOLE_ONES ? L / S * S
                                           : segment_runs_again(L, S);
}

/* The choice by counted bytes, right or with a mistake; 0 where none fits. */
static int segment_best_as(Shape shape, size_t budget, SegmentTie tie, SegmentMistake mistake) {
    int best = 0, least = 0, L = shape.config.L;
    size_t best_bytes = 0;
    for (int S = 1; S <= L - (mistake == SEGMENT_NO_PLAIN_STEP); S++) {
        shape.checkpoint = (Checkpoint){.segment = S};
        size_t bytes = checkpoint_counted(&shape);
        int again = segment_again_as(L, S, mistake);
        bool fits = mistake == SEGMENT_FULL_REFUSED ? bytes < budget : bytes <= budget;
        bool wins = tie == TIE_FEWER_BYTES ? bytes < best_bytes : tie == TIE_LARGER;
        if (!fits && mistake == SEGMENT_ENDS_EARLY) {
            break;
        }
        if (fits && (best == 0 || again < least || (again == least && wins))) {
            best = S;
            least = again;
            best_bytes = bytes;
        }
    }
    return best;
}

static int segment_best(Shape shape, size_t budget, SegmentTie tie) {
    return segment_best_as(shape, budget, tie, SEGMENT_RIGHT);
}

static size_t segment_bytes(Shape shape, int S) {
    shape.checkpoint.segment = S;
    return S > 0 ? checkpoint_counted(&shape) : 0;
}

/* The least that any segment takes. */
static size_t segment_least_bytes(Shape shape) {
    size_t least = segment_bytes(shape, 1);
    for (int S = 2; S <= shape.config.L; S++) {
        least = segment_bytes(shape, S) < least ? segment_bytes(shape, S) : least;
    }
    return least;
}

/* Why the best segment, and not one that fits as well. */
static void segment_advise(Check *check, Shape shape, size_t budget, int got, int best) {
    static const Term tie = TERM_TIE;
    int L = shape.config.L;
    if (segment_runs_again(L, got) == segment_runs_again(L, best)) {
        check_fail(check, "look at every segment; %s", tie.says[tie.now]);
    } else if (segment_bytes(shape, best) == budget) {
        check_fail(check,
                   "look at every segment; what takes the budget to the last byte fits, too");
    } else {
        check_fail(check, "look at every segment: their order is not simple");
    }
}

/* Both neighbours of a wrong choice are measured, and the better one is named. */
static bool segment_expect(Check *check, const Shape *shape, size_t budget, uint64_t got) {
    int L = shape->config.L, best = segment_best(*shape, budget, TERM_TIE_IS);
    if (got == (uint64_t)best) {
        check_good(check);
        return true;
    }
    if (best == 0) {
        check_compared(
            check, false,
            "%zu bytes: nothing fits, the least is %zu; the answer is %lld, and 0 is right", budget,
            segment_least_bytes(*shape), (long long)got);
    } else if (got < 1 || got > (uint64_t)L) {
        check_compared(check, false,
                       "%zu bytes: %lld is not a segment of %d blocks, and segment %d fits", budget,
                       (long long)got, L, best);
    } else if (segment_bytes(*shape, (int)got) > budget) {
        check_compared(check, false,
                       "segment %d of %d blocks takes %zu bytes, and there are %zu; segment %d "
                       "takes %zu",
                       (int)got, L, segment_bytes(*shape, (int)got), budget, best,
                       segment_bytes(*shape, best));
    } else {
        check_compared(check, false,
                       "segment %d of %d blocks fits into %zu bytes with %zu and runs %d blocks "
                       "again; segment %d fits with %zu and runs %d",
                       (int)got, L, budget, segment_bytes(*shape, (int)got),
                       segment_runs_again(L, (int)got), best, segment_bytes(*shape, best),
                       segment_runs_again(L, best));
        segment_advise(check, *shape, budget, (int)got, best);
    }
    return false;
}

/* Names the term by whose rule all answers are right. */
static void segment_suspect_term(const Quiz *quiz, const uint64_t *budget) {
    static const SegmentTie ties[] = TERM_TIE_EACH;
    const Term term = TERM_TIE;
    bool fits[TERM_MOST];
    for (int k = 0; k < term.count; k++) {
        fits[k] = true;
        for (int i = 0; i < quiz->count; i++) {
            int best = segment_best(quiz->shape[i], budget[i], ties[k]);
            fits[k] = fits[k] && *quiz_answer(quiz, i) == (uint64_t)best;
        }
    }
    check_suspect_term(quiz->check, &term, fits);
}

/* Names the mistake that gives all answers. */
static void segment_suspect(const Quiz *quiz, const uint64_t *budget) {
    for (SegmentMistake mistake = SEGMENT_RIGHT + 1; mistake < SEGMENT_MISTAKES; mistake++) {
        int i = 0;
        while (i < quiz->count &&
               *quiz_answer(quiz, i) ==
                   (uint64_t)segment_best_as(quiz->shape[i], budget[i], TERM_TIE_IS, mistake)) {
            i++;
        }
        check_suspect(quiz->check, segment_sentence[mistake], i == quiz->count);
    }
}

/* Whether any two rules differ in some answer. */
static bool segment_rules_differ(const Quiz *quiz, const uint64_t *budget) {
    bool differ[3] = {false};
    for (int i = 0; i < quiz->count; i++) {
        int bytes = segment_best(quiz->shape[i], budget[i], TIE_FEWER_BYTES);
        int smaller = segment_best(quiz->shape[i], budget[i], TIE_SMALLER);
        int larger = segment_best(quiz->shape[i], budget[i], TIE_LARGER);
        differ[0] = differ[0] || bytes != smaller;
        differ[1] = differ[1] || bytes != larger;
        differ[2] = differ[2] || smaller != larger;
    }
    return differ[0] && differ[1] && differ[2];
}

/* One block, and just enough; one byte less. A float holds neither budget. */
static void segment_ask_one_block(Quiz *quiz, uint64_t *budget) {
    for (int less = 0; less < 2; less++) {
        Shape shape = quiz->shape[0];
        shape.config.L = 1;
        shape.B = HUGE_BATCH + 1 + 2 * less;
        shape.T |= 1;
        budget[quiz->count] = segment_bytes(shape, 1) - (size_t)less;
        quiz_add(quiz, shape);
    }
}

/* In the same budget. */
static void segment_ask_twins(Quiz *quiz, uint64_t *budget) {
    int last = quiz->count - 1;
    bool differ = false;
    quiz_add_twins(quiz);
    for (int i = last + 1; i < quiz->count; i++) {
        budget[i] = budget[last];
        differ = differ || segment_best(quiz->shape[i], budget[i], TERM_TIE_IS) !=
                               segment_best(quiz->shape[i - 1], budget[i], TERM_TIE_IS);
    }
    check_size(quiz->check, "twins with another answer", differ);
}

GRADED(04_checkpoint, segment, "task 5: the segment for unseen budgets") {
    Quiz quiz = {.check = check, .numbers = 1};
    uint64_t budget[QUIZ_SHAPES];
    for (int i = 0; i < 8; i++) {
        checkpoint_ask(&quiz, i == 5 ? F16 : F32, (Attention)(i % 2), i % 3 > 0, (Checkpoint){0});
        Shape *shape = &quiz.shape[i];
        shape->config.L = check_int(check, 6, 9);
        shape->B = i == 2 || i == 4 ? HUGE_BATCH : shape->B; /* budgets beyond 2^32 */
        size_t least = segment_bytes(*shape, 1), most = segment_bytes(*shape, shape->config.L);
        budget[i] = least + (most - least) / 6 * (size_t)i + (size_t)check_int(check, 0, 999);
    }
    budget[0] = segment_least_bytes(quiz.shape[0]) - 1;
    /* To the byte; and room for two segments that run as many blocks again. */
    budget[6] = segment_bytes(quiz.shape[6], quiz.shape[6].config.L);
    budget[7] = SIZE_MAX;
    quiz.shape[1].config.L = 9;
    budget[1] = segment_bytes(quiz.shape[1], 2);
    /* Many blocks, all of which fit: budget[7]. */
    quiz.shape[7].config.L = check_int(check, 40, 60);
    /* With a head of some blocks' bytes more segments take more: each has an input of its own. */
    quiz.shape[3].config.L = 9;
    quiz.shape[3].config.V = 64 * quiz.shape[3].config.C;
    quiz.shape[3].B = HUGE_BATCH;
    budget[3] = segment_bytes(quiz.shape[3], 1);
    segment_ask_one_block(&quiz, budget);
    /* No byte at all; of two blocks what segment 1 takes, other than a plain step; what one of the
       segments takes, so that all smaller ones are asked about; or what the best of them takes,
       which one who counts more refuses. */
    for (int i = 0; i < 9; i++) {
        checkpoint_ask(&quiz, F32, ATTENTION_PLAIN, i % 3 == 0, (Checkpoint){0});
        Shape *shape = &quiz.shape[quiz.count - 1];
        shape->config.L = i == 1 ? 2 : check_int(check, 8, 16);
        int S = i < 2 ? i : check_int(check, 2, shape->config.L / 2);
        size_t most = segment_bytes(*shape, S);
        S = i % 2 ? segment_best(*shape, most, TERM_TIE_IS) : S;
        budget[quiz.count - 1] = segment_bytes(*shape, S);
    }
    segment_ask_twins(&quiz, budget);
    CHECK(segment_rules_differ(&quiz, budget), "two rules for equals give the same answers");
    check_give(check, "budgets", WIRE_U64, budget, (size_t)quiz.count);
    if (quiz_run(&quiz, "formulas/segment", SECONDS)) {
        for (int i = 0; i < quiz.count; i++) {
            if (!segment_expect(check, &quiz.shape[i], budget[i], *quiz_answer(&quiz, i))) {
                segment_suspect_term(&quiz, budget);
                segment_suspect(&quiz, budget);
                return;
            }
        }
    }
}

GRADED(04_checkpoint, fits, "task 5: the chosen segment runs in its budget") {
    check_after(check, "segment");
    ModelConfig config = run_large_config();
    config.L = 9;
    config.C = 64;
    Shape shape = {config, RUN_LARGE_BATCH, config.T, {.segment = check_int(check, 3, 5)}};
    CheckpointRun *run = run_large(check, config, shape.checkpoint);
    run->choose = checkpoint_counted(&shape) + (size_t)check_int(check, 0, 9999);
    run->checkpoint.segment = segment_best(shape, run->choose, TERM_TIE_IS);
    if (run_same_as_plain(run)) {
        run_expect_forwards(run, config.L + segment_runs_again(config.L, run->checkpoint.segment));
    }
}
