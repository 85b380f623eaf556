/* Lab 13, judged. Orders of work are compared with the contract's for every small pipeline, and
   tried with messages that wait. The bits are those of the kit, which runs the micro-batches one
   after the other on one device, in another program. */
#include <math.h>
#include <stdio.h>

#include "grader/judge_profile.h"
#include "grader/labs/13_pipeline/orders.h"
#include "grader/labs/13_pipeline/stages.h"

/* ---- task 1 ---------------------------------------------------------------------------------- */

enum { PART_CASES = 40 };

static int cut_rest_last(int L, int p, int s) {
    return s == p ? L : L / p * s;
}

static int cut_rest_first(int L, int p, int s) {
    return L / p * s + (s < L % p ? s : L % p);
}

/* A part of L, or of the stages, that is rounded before it is multiplied. */
static int cut_by_float_length(int L, int p, int s) {
    float each = (float)L / (float)p;
    return (int)((float)s * each);
}

static int cut_by_double_length(int L, int p, int s) {
    return (int)(s * ((double)L / p));
}

static int cut_by_float_part(int L, int p, int s) {
    float part = (float)s / (float)p;
    return (int)((float)L * part);
}

static int cut_by_double_part(int L, int p, int s) {
    return (int)(L * ((double)s / p));
}

static PlanCut *const cuts_rounded[] = {cut_by_float_length, cut_by_double_length,
                                        cut_by_float_part, cut_by_double_part};
enum { CUTS_ROUNDED = sizeof cuts_rounded / sizeof *cuts_rounded };

/* In each of them one of those goes wrong: p, L, stage. */
static const int rounded_case[CUTS_ROUNDED][3] = {
    {11, 13, 10}, {11, 15, 10}, {19, 95, 2}, {10, 90, 6}};

static uint64_t *parts_cut(Check *check, const PipePlan *plan, const int32_t *layers,
                           PlanCut *cut) {
    uint64_t *parts = (uint64_t *)check_doubles(check, PART_CASES * PART_NUMBERS);
    for (int i = 0; i < PART_CASES; i++) {
        int p = plan[i].stages, s = plan[i].stage;
        uint64_t *part = parts + i * PART_NUMBERS;
        part[PART_FIRST] = (uint64_t)cut(layers[i], p, s);
        part[PART_LAST] = (uint64_t)cut(layers[i], p, s + 1);
        part[PART_EMBEDDING] = s == 0;
        part[PART_HEAD] = s == p - 1;
        part[PART_WHOLE] = 1;
    }
    return parts;
}

static const char *part_label(size_t i, char *text) {
    static const char *const name[] = {"its first block", "the block after its last one",
                                       "whether it has the embedding", "whether it has the head",
                                       "whether it is unsharded, with weights and gradients"};
    snprintf(text, CHECK_LABEL, "stage %zu: %s", i / PART_NUMBERS, name[i % PART_NUMBERS]);
    return text;
}

GRADED(13_pipeline, part, "task 1: the blocks of each stage, embedding and head at the ends") {
    PipePlan plan[PART_CASES];
    int32_t layers[PART_CASES];
    for (int i = 0; i < PART_CASES; i++) {
        int p = i < 12 ? i / 3 + 3 : i < 30 ? check_int(check, 1, 9) : check_int(check, 10, 70);
        plan[i] = (PipePlan){.stages = p, .stage = i < 12 ? i % 3 : check_int(check, 0, p - 1)};
        plan[i].micros = 1;
        layers[i] = i < 12 ? p + 1 + i % 2 : check_int(check, p, i < 30 ? 30 : 3 * p);
    }
    for (int i = 0; i < CUTS_ROUNDED; i++) {
        int at = PART_CASES - 1 - i;
        plan[at].stages = rounded_case[i][0];
        layers[at] = rounded_case[i][1];
        plan[at].stage = rounded_case[i][2];
    }
    plans_give(check, plan, PART_CASES);
    check_give(check, "layers", WIRE_I32, layers, PART_CASES);
    check_want(check, "parts", WIRE_U64, PART_CASES * PART_NUMBERS);
    ExactSuspect suspects[] = {
        {"the last stage gets all that is left over: cut at s L / p, rounded",
         parts_cut(check, plan, layers, cut_rest_last)},
        {"the first stages get what is left over: cut at s L / p, rounded",
         parts_cut(check, plan, layers, cut_rest_first)},
        [2 + TERM_MOST + CUTS_ROUNDED - 1] = {NULL, NULL}};
    const Term term = TERM_CUT;
    PlanCut *const cuts[] = TERM_CUT_EACH;
    char text[TERM_MOST][TERM_TEXT];
    int count = 2;
    for (int i = 0; i < CUTS_ROUNDED; i++) {
        suspects[count++] =
            (ExactSuspect){"a quotient is rounded, and then multiplied, which may end just below "
                           "the whole number that is right: multiply first, in whole numbers",
                           parts_cut(check, plan, layers, cuts_rounded[i])};
    }
    for (int k = 0; k < term.count; k++) {
        if (k != term.now) {
            suspects[count++] = (ExactSuspect){term_mistake(&term, k, text[k]),
                                               parts_cut(check, plan, layers, cuts[k])};
        }
    }
    if (check_run(check, "formulas/parts", SECONDS)) {
        check_equal_of(check, "parts", part_label, parts_cut(check, plan, layers, TERM_CUT_IS),
                       PART_CASES * PART_NUMBERS, suspects, count);
    }
}

/* ---- task 2 ---------------------------------------------------------------------------------- */

GRADED(13_pipeline, gpipe,
       "task 2: all forwards, then all backwards, in small and large pipelines") {
    check_after(check, "in_flight");
    orders_judge(check, PIPE_GPIPE);
}

GRADED(13_pipeline, one_f_one_b,
       "task 2: one forward, one backward, in small and large pipelines") {
    check_after(check, "in_flight");
    orders_judge(check, PIPE_1F1B);
}

GRADED(13_pipeline, in_flight, "task 2: micro-batches in flight, of both orders") {
    orders_judge_in_flight(check);
}

/* ---- tasks 3 and 4 --------------------------------------------------------------------------- */

static bool stages_same_bits(const StagesRun *run) {
    return stages_expect_gradients(run) && stages_expect_losses(run);
}

GRADED(13_pipeline, one_stage, "task 3: a pipeline of one: micro-batches one after the other") {
    StagesRun *run = stages_new(check, PIPE_1F1B, 1, 3, 2);
    if (stages_run(run) && stages_same_bits(run)) {
        stages_expect_nothing_left(run);
    }
}

GRADED(13_pipeline, stages, "task 4: stages, all forwards first: the bits of one device") {
    int micros = check_int(check, 33, 40); /* all of them in flight */
    StagesRun *run = stages_new(check, PIPE_GPIPE, check_int(check, 2, 3), micros, 2);
    run->option[PIPES_REPEATED] = 240; /* what each of them leaves, a rank's heap cannot hold */
    check_after(check, "one_stage");
    if (stages_run(run) && stages_same_bits(run)) {
        stages_expect_nothing_left(run);
    }
}

/* In one half precision, and `few` in the other: numbers are sent as they are stored. */
GRADED(13_pipeline, messages, "task 4: what stages send, and how often") {
    StagesRun *run = stages_new(check, PIPE_GPIPE, 3, 3, 1);
    stages_store(run, BF16);
    check_after(check, "stages");
    if (stages_run(run)) {
        stages_expect_messages(run);
    }
}

GRADED(13_pipeline, in_turn, "task 4: 1F1B over three to five stages, with sends that wait") {
    StagesRun *run = stages_new(check, PIPE_1F1B, check_int(check, 3, 5), 7, 2);
    run->option[PIPES_SHORT] = 1; /* what is kept of the first window is too short or too few */
    run->option[PIPES_FEWER] = 5;
    check_after(check, "stages one_f_one_b");
    if (stages_run(run) && stages_same_bits(run)) {
        stages_expect_nothing_left(run);
    }
}

GRADED(13_pipeline, few, "task 4: fewer micro-batches than stages") {
    StagesRun *run =
        stages_new(check, PIPE_1F1B, check_int(check, 7, 8), check_int(check, 2, 3), 2);
    run->option[PIPES_SHORT] = 1;
    stages_store(run, F16);
    check_after(check, "stages messages one_f_one_b");
    if (stages_run(run)) {
        stages_same_bits(run);
    }
}

/* More stages than any check before, and fewer than a window has micro-batches, so that each
   has as many in flight as it may have; and a window with a share of 0, which draws its masks as
   others do. */
GRADED(13_pipeline, masks, "task 4: dropout's masks are those of one device") {
    StagesRun *run = stages_new(check, PIPE_1F1B, check_int(check, 7, 8), 10, 2);
    run->given.config.dropout = 0.25f;
    run->last_share_is_0 = true;
    run->option[PIPES_SHORT] = 1;
    check_after(check, "stages in_turn");
    if (stages_run(run) && stages_expect_streams(run)) {
        stages_same_bits(run);
    }
}

/* Equal shapes: each micro-batch has as many bytes. */
static StagesRun *stages_new_even(Check *check, PipeOrder order) {
    StagesRun *run = stages_new(check, order, 3, 5, 1);
    for (int i = 0; i < run->micros; i++) {
        run->given.batch[i] = batch_full(check, run->given.config.V, 2, 11);
    }
    return run;
}

GRADED(13_pipeline, memory, "task 4: the bytes of what is in flight, and no more") {
    StagesRun *run = stages_new_even(check, PIPE_1F1B);
    check_after(check, "in_turn");
    if (stages_run(run) && stages_expect_peak(run)) {
        stages_same_bits(run);
    }
}

GRADED(13_pipeline, makespan, "task 4: stages work at the same time, on the simulated GPU") {
    StagesRun *run = stages_new_even(check, PIPE_1F1B);
    run->option[RANKS_GPU] = run->option[RANKS_RECORD] = 1;
    check_after(check, "in_turn");
    if (stages_run(run) && profile_expect_no_problem(check) && stages_same_bits(run)) {
        stages_expect_time(run);
    }
}

/* In half; `ends` has floats. */
GRADED(13_pipeline, evaluate, "task 4: the loss of a batch through all stages") {
    StagesRun *run = stages_new(check, PIPE_1F1B, 3, 2, 1);
    stages_store(run, F16);
    run->given.config.dropout = 0.25f;
    run->given.batch[0] = batch_uneven(check, run->given.config.V, 2, 11);
    run->option[PIPES_EVALUATE] = 1;
    run->option[PIPES_REPEATED] = 240;
    check_after(check, "stages in_turn");
    if (stages_run(run) && stages_expect_eval(run) && stages_expect_nothing_left(run)) {
        stages_also_on_gpu(run, stages_expect_eval);
    }
}

/* ---- task 5 ---------------------------------------------------------------------------------- */

static bool ties_are_right(const StagesRun *run) {
    return stages_expect_gradients(run) && stages_expect_tie_calls(run);
}

/* Weights in half; their gradients are floats. Masks as well: `masks` has floats, in turn. */
GRADED(13_pipeline, tied, "task 5: the tied gradient is the sum of its halves, on both ends") {
    StagesRun *run = stages_new(check, PIPE_GPIPE, check_int(check, 3, 4), 3, 2);
    stages_store(run, check_int(check, 0, 1) ? F16 : BF16);
    run->given.config.dropout = 0.25f;
    run->option[PIPES_TIE] = TIE_SUM;
    check_after(check, "stages masks");
    if (stages_run(run) && ties_are_right(run)) {
        stages_also_on_gpu(run, ties_are_right);
    }
}

/* In half; `ends` has floats. */
GRADED(13_pipeline, norm, "task 5: the norm of the whole model, the same on every stage") {
    StagesRun *run = stages_new(check, PIPE_GPIPE, check_int(check, 3, 4), 2, 2);
    stages_store(run, check_int(check, 0, 1) ? F16 : BF16);
    run->option[PIPES_TIE] = TIE_NORM;
    check_after(check, "stages tied");
    if (stages_run(run) && stages_expect_norms(run) && stages_expect_nothing_left(run)) {
        stages_also_on_gpu(run, stages_expect_norms);
    }
}

/* In turn: the two send to each other at the same time. */
GRADED(13_pipeline, ends, "task 5: of two stages both are ends") {
    StagesRun *run = stages_new(check, PIPE_1F1B, 2, 3, 2);
    run->option[PIPES_TIE] = TIE_NORM;
    run->option[PIPES_EVALUATE] = 1;
    check_after(check, "stages in_turn evaluate tied norm");
    if (stages_run(run) && ties_are_right(run) && stages_expect_norms(run)) {
        stages_expect_eval(run);
    }
}

GRADED(13_pipeline, alone, "task 5: one stage has both halves already, and the loss") {
    StagesRun *run = stages_new(check, PIPE_1F1B, 1, 2, 1);
    run->option[PIPES_TIE] = TIE_NORM;
    run->option[PIPES_EVALUATE] = 1;
    check_after(check, "one_stage evaluate tied norm");
    if (stages_run(run) && stages_expect_gradients(run) && stages_expect_norms(run)) {
        stages_expect_eval(run);
    }
}

/* ---- task 6 ---------------------------------------------------------------------------------- */

enum { PLANS_DRAWN = 18 };

/* Shapes that nothing divides, each with a stage of a pipeline; then GPT-2 XL, whose bytes no
   int holds; and one as wide as GPT-3: of its last stage no int holds the numbers either, nor the
   bytes of the tied gradient. Of one there are twins. */
static void ask_plans(Quiz *quiz, PipePlan *plan) {
    Check *check = quiz->check;
    for (int i = 0; i < PLANS_DRAWN; i++) {
        int p = i < 2 ? 1 : check_int(check, 2, 9), NH = check_int(check, 1, 3);
        Shape shape = {.config = {.V = check_int(check, 65, 700),
                                  .T = check_int(check, 9, 40),
                                  .L = p + check_int(check, 0, 3),
                                  .NH = NH,
                                  .C = NH * check_int(check, 3, 20),
                                  .precision = (Precision)(i % 3),
                                  .attention = (Attention)(i / 3 % 2)},
                       .B = check_int(check, 1, 4)};
        shape.T = check_int(check, 2, shape.config.T);
        if (i == 4) { /* a last stage where the backward of a block takes more than the head's */
            shape.config.V = 65;
            shape.config.NH = 3;
            shape.config.C = 3 * check_int(check, 18, 20);
        }
        quiz_add(quiz, shape);
        plan[i] = (PipePlan){.order = (PipeOrder)(i % 4 == 3),
                             .stages = p,
                             .stage = i % 3 == 0   ? 0
                                      : i % 3 == 1 ? p - 1
                                                   : check_int(check, 0, p - 1),
                             .micros = check_int(check, 1, 12)};
    }
    quiz_add_twins(quiz);
    for (int i = PLANS_DRAWN; i < quiz->count; i++) {
        plan[i] = plan[PLANS_DRAWN - 1];
    }
    ModelConfig large = {.V = 50257, .T = 1024, .L = 48, .NH = 25, .C = 1600};
    plan[quiz->count] = (PipePlan){PIPE_1F1B, .stages = 2, .stage = 0, .micros = 96};
    quiz_add(quiz, (Shape){.config = large, .B = 8, .T = 1024});
    ModelConfig larger = {.V = 50257, .T = 64, .L = 48, .NH = 96, .C = 12288};
    plan[quiz->count] = (PipePlan){PIPE_1F1B, .stages = 2, .stage = 1, .micros = 96};
    quiz_add(quiz, (Shape){.config = larger, .B = 65536, .T = 64});
    plans_give(check, plan, quiz->count);
}

GRADED(13_pipeline, bytes, "task 6: predicted bytes of a stage, by kind") {
    PipePlan plan[QUIZ_SHAPES];
    Quiz quiz = {.check = check, .numbers = MEMORY_KINDS};
    ask_plans(&quiz, plan);
    check_after(check, "part in_flight");
    if (!quiz_run(&quiz, "formulas/bytes", SECONDS)) {
        return;
    }
    for (int i = 0; i < quiz.count; i++) {
        const Shape *shape = &quiz.shape[i];
        MemoryUse right = plan_bytes(&shape->config, &plan[i], shape->B, shape->T);
        for (int kind = 0; kind < MEMORY_KINDS; kind++) {
            uint64_t got = quiz_answer(&quiz, i)[kind];
            if (got != right.bytes[kind]) {
                check_fail(
                    check,
                    "%s, stage %d of %d, %s, %d micro-batches: %llu bytes of %s, and %zu are right",
                    quiz.name[i], plan[i].stage, plan[i].stages,
                    plan[i].order == PIPE_GPIPE ? "GPIPE" : "1F1B", plan[i].micros,
                    (unsigned long long)got, memory_kind_name((MemoryKind)kind), right.bytes[kind]);
                return;
            }
        }
    }
    check_good(check);
}

GRADED(13_pipeline, wire, "task 6: predicted bytes on the wire") {
    PipePlan plan[QUIZ_SHAPES];
    Quiz quiz = {.check = check, .numbers = 1};
    ask_plans(&quiz, plan);
    if (!quiz_run(&quiz, "formulas/wire", SECONDS)) {
        return;
    }
    for (int i = 0; i < quiz.count; i++) {
        const Shape *shape = &quiz.shape[i];
        uint64_t got = *quiz_answer(&quiz, i);
        uint64_t right = plan_wire(&shape->config, &plan[i], shape->B, shape->T);
        if (got != right) {
            check_fail(check,
                       "%s, stage %d of %d, %d micro-batches: %llu bytes, and %llu are right",
                       quiz.name[i], plan[i].stage, plan[i].stages, plan[i].micros,
                       (unsigned long long)got, (unsigned long long)right);
            return;
        }
    }
    check_good(check);
}

GRADED(13_pipeline, bubble, "task 6: the part of the time in which a stage waits") {
    orders_judge_bubble(check);
}
