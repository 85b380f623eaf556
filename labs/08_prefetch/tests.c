/* Lab 08, judged. The submission's calls are recorded by the simulator as they are made: clocks say
   what may run beside what, and a declared machine says how long that takes, at least. The bits are
   those of batches that were given, or of the kit's plain step, which runs in another program. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "grader/labs/08_prefetch/feed.h"
#include "grader/labs/08_prefetch/journeys.h"
#include "grader/labs/08_prefetch/machines.h"
#include "grader/labs/08_prefetch/stages.h"
#include "grader/labs/08_prefetch/term.h"
#include "grader/quiz.h"

/* ---- task 1 ---------------------------------------------------------------------------------- */

/* All batches and the end of them. */
static FeedRun *epoch(Check *check, int slots) {
    FeedRun *run = feed_new(check, slots);
    feed_reads(run, 0, run->batches, READ_END);
    feed_actions(run, ACTION_NEXT, run->batches);
    return run;
}

static bool expect_right(const FeedRun *run) {
    return feed_expect_seen(run) && feed_expect_batches(run);
}

static bool expect_right_and_over(const FeedRun *run) {
    return expect_right(run) && feed_expect_landed(run);
}

GRADED(08_prefetch, one_slot, "task 1: every batch in order, through one slot") {
    FeedRun *run = epoch(check, 1);
    if (feed_run(run) && expect_right(run)) {
        feed_expect_edges(run);
    }
}

static void expect_slot_bytes(const FeedRun *run) {
    const uint64_t *bytes = check_got(run->check, "bytes", WIRE_U64);
    uint64_t want = 8 * (uint64_t)run->option[FEED_TOKENS];
    bool back = bytes[BYTES_LEFT] == 0 && bytes[BYTES_PINNED] == 0;
    if (bytes[BYTES_DEVICE] == want && back) {
        check_good(run->check);
        return;
    }
    if (bytes[BYTES_DEVICE] == want && bytes[BYTES_LEFT] == 0) {
        check_fail(run->check, "the pinned memory of a slot is still there after prefetch_close(): "
                               "cudaFreeHost() gives it back");
        return;
    }
    check_fail(run->check,
               "%llu bytes in the lane \"slots\", and %llu after prefetch_close(): %llu and 0 are "
               "right",
               (unsigned long long)bytes[BYTES_DEVICE], (unsigned long long)bytes[BYTES_LEFT],
               (unsigned long long)want);
}

GRADED(08_prefetch, pinned, "task 1: from pinned memory, or from pageable; in the slot's bytes") {
    FeedRun *run = epoch(check, 1);
    if (feed_run(run) && feed_compared(run, !stages_told(run, TOLD_PAGEABLE),
                                       "the reader is given pageable memory")) {
        expect_slot_bytes(run);
        if (feed_run_pageable(run) && expect_right(run) && stages_told(run, TOLD_PINNED)) {
            check_fail(check, "pageable memory is asked for, and the reader is given pinned");
        }
    }
}

/* ---- task 2 ---------------------------------------------------------------------------------- */

GRADED(08_prefetch, slots, "task 2: every batch in order, through several slots") {
    FeedRun *run = epoch(check, check_int(check, 2, 4));
    if (feed_run(run)) {
        expect_right(run);
    }
}

GRADED(08_prefetch, overlap, "task 2: the next copies may run beside the work on a batch") {
    FeedRun *run = epoch(check, check_int(check, 2, 3));
    run->option[FEED_LOSS] = true;
    if (feed_run(run) && feed_expect_seen(run)) {
        feed_expect_overlap(run);
    }
}

GRADED(08_prefetch, reuse, "task 2: a slot is filled after the work on what was in it") {
    FeedRun *run = epoch(check, check_int(check, 2, 3));
    check_after(check, "slots");
    if (feed_run(run) && feed_expect_seen(run)) {
        feed_expect_edges(run);
    }
}

GRADED(08_prefetch, waits,
       "task 2: in a loop that reads its loss, the host waits for nothing else") {
    FeedRun *run = epoch(check, 2);
    run->option[FEED_LOSS] = true;
    check_after(check, "slots");
    if (feed_run(run) && feed_expect_seen(run)) {
        feed_compared(run, !run->present[FEED_HOST_WAITS] && !run->present[FEED_PAGEABLE],
                      "the host waits in prefetch.c between two batches");
    }
}

/* Twelve batches of the same size; on one machine the copy is the larger stage, on another the
   work. */
static FeedRun *timed(Check *check) {
    FeedRun *run = feed_new(check, 2);
    run->batches = 2;
    for (int i = 0; i < run->batches; i++) {
        run->batch[i] = batch_full(check, 250, 64, 4096);
    }
    run->option[FEED_TOKENS] = 64 * 4096;
    run->option[FEED_COPY_BACK] = false;
    run->option[FEED_LOSS] = true;
    run->option[FEED_WORK] = 64 * 1024 + check_int(check, 0, 4096);
    for (int i = 0; i < TIMED_BATCHES; i++) {
        run->reads[run->read_count++] = i % 2;
    }
    run->reads[run->read_count++] = READ_END;
    feed_actions(run, ACTION_NEXT, TIMED_BATCHES);
    return run;
}

GRADED(08_prefetch, makespan, "task 2: as long as the larger stage, on three machines") {
    FeedRun *run = timed(check);
    check_after(check, "overlap slots");
    if (!feed_run(run) || !feed_expect_seen(run)) {
        return;
    }
    for (int m = 0; m < MACHINES; m++) {
        Makespan took;
        if (!record_makespan(check, &run->record, machines_declared[m], &took)) {
            return;
        }
        double most = machines_bound(run, machines_declared[m]);
        char text[200];
        snprintf(text, sizeof text, "%.0f us on the declared %s, and %.0f do", 1e6 * took.seconds,
                 machines_declared[m]->name, 1e6 * most);
        check_tell(check, "declared %s: %.0f us, a lower bound, not measured; at most %.0f\n",
                   machines_declared[m]->name, 1e6 * took.seconds, 1e6 * most);
        if (!feed_compared(run, took.seconds <= most, text)) {
            return;
        }
    }
}

/* ---- task 3 ---------------------------------------------------------------------------------- */

GRADED(08_prefetch, end, "task 3: the end of an epoch, twice asked, and the next epoch") {
    FeedRun *run = feed_new(check, check_int(check, 2, 3));
    feed_reads(run, 0, 4, READ_END);
    feed_reads(run, 4, 3, READ_END);
    feed_reads(run, 0, 0, READ_END);
    feed_actions(run, ACTION_NEXT, 6);
    feed_actions(run, ACTION_STOP, 1);
    feed_actions(run, ACTION_NEXT, 4);
    feed_actions(run, ACTION_STOP, 1);
    feed_actions(run, ACTION_NEXT, 1);
    if (feed_run(run)) {
        expect_right_and_over(run);
    }
}

GRADED(08_prefetch, failure, "task 3: an error in the reader comes after the batches before it") {
    FeedRun *run = feed_new(check, check_int(check, 2, 3));
    feed_reads(run, 0, 3, READ_FAILS);
    feed_reads(run, 5, 2, READ_END);
    feed_reads(run, 0, 0, READ_FAILS);
    feed_actions(run, ACTION_NEXT, 5);
    feed_actions(run, ACTION_STOP, 1);
    feed_actions(run, ACTION_NEXT, 3);
    feed_actions(run, ACTION_STOP, 1);
    feed_actions(run, ACTION_NEXT, 1);
    if (feed_run(run)) {
        expect_right_and_over(run);
    }
}

/* Batches that were read ahead are gone; the reader goes on wherever its caller has put it. */
GRADED(08_prefetch, stop, "task 3: stopped in the middle of an epoch, and resumed there") {
    FeedRun *run = feed_new(check, check_int(check, 2, 4));
    int done = check_int(check, 1, 3), slots = run->option[FEED_SLOTS];
    for (int i = 0; i < done + slots - 1; i++) {
        run->reads[run->read_count++] = i;
    }
    feed_reads(run, done, run->batches - done, READ_END);
    feed_actions(run, ACTION_NEXT, done);
    feed_actions(run, ACTION_STOP, 2);
    feed_actions(run, ACTION_NEXT, run->batches - done + 1);
    if (feed_run(run)) {
        expect_right_and_over(run);
    }
}

/* ---- task 4 ---------------------------------------------------------------------------------- */

GRADED(08_prefetch, offload, "task 4: the bits of a plain step") {
    OffloadRun *run = passes_new(check, check_int(check, 4, 5), 1, 0);
    passes_set_wide_budget(run);
    if (passes_both(run) && passes_same_as_plain(run)) {
        passes_expect_all_moved(run);
    }
}

GRADED(08_prefetch, offload_segments, "task 4: segments that do not divide the blocks, dropout") {
    OffloadRun *run = passes_new(check, 5, check_int(check, 2, 3), 0.3f);
    passes_set_wide_budget(run);
    if (passes_both(run) && passes_same_as_plain(run)) {
        passes_expect_all_moved(run);
    }
}

GRADED(08_prefetch, offload_memory, "task 4: in memory that no segments of lab 04 fit into") {
    OffloadRun *run = passes_new(check, 6, 1, 0);
    passes_set_budget(run);
    if (passes_both(run) && passes_same_as_plain(run)) {
        passes_expect_peak(run);
    }
}

GRADED(08_prefetch, offload_moved, "task 4: each input goes out once, and comes back once") {
    OffloadRun *run = passes_new(check, check_int(check, 4, 6), 1, 0);
    passes_set_budget(run);
    if (passes_both(run)) {
        passes_expect_moved(run);
    }
}

GRADED(08_prefetch, offload_order, "task 4: each copy after what it needs") {
    OffloadRun *run = passes_new(check, check_int(check, 4, 5), 1, 0);
    check_after(check, "offload offload_moved");
    passes_set_budget(run);
    if (passes_both(run)) {
        passes_expect_edges(run);
    }
}

GRADED(08_prefetch, offload_overlap, "task 4: copies may run beside the segments") {
    OffloadRun *run = passes_new(check, check_int(check, 4, 5), 1, 0);
    check_after(check, "offload offload_moved");
    passes_set_budget(run);
    if (passes_both(run)) {
        passes_expect_overlap(run);
    }
}

/* ---- task 5 ---------------------------------------------------------------------------------- */

static void ask(Quiz *quiz, Precision precision, Attention attention, bool wide, int segment) {
    Check *check = quiz->check;
    ModelConfig config = {.V = wide ? check_int(check, 256, 280) : check_int(check, 900, 1200),
                          .T = check_int(check, 20, 40),
                          .L = check_int(check, segment, segment + 4),
                          .NH = check_int(check, 2, 4),
                          .precision = precision,
                          .attention = attention};
    config.C =
        config.NH * (wide ? 112 / config.NH + check_int(check, 0, 4) : check_int(check, 8, 16));
    quiz_add(quiz, (Shape){config,
                           check_int(check, 2, 4),
                           check_int(check, 11, config.T - 2),
                           {.segment = segment}});
}

/* GPT-2, in batches that have more bytes than an int can say. */
static void ask_large(Quiz *quiz, int segment, int B) {
    ModelConfig config = {.V = 50257, .T = 1024, .L = 48, .NH = 25, .C = 1600};
    quiz_add(quiz, (Shape){config, B, 1024, {.segment = segment}});
}

/* 48 slots, as a segment has 48 blocks: their numbers do not fit into an int. */
static void ask_many_slots(Quiz *quiz) {
    ModelConfig config = {.V = 256, .T = 1024, .L = 48, .NH = 1, .C = 1600};
    quiz_add(quiz, (Shape){config, 1 << 15, 1024, {.segment = 48}});
}

/* By how much known mistakes are off. */
static const char *bytes_mistake(const Shape *s, int which, uint64_t got, uint64_t right) {
    const ModelConfig *c = &s->config;
    uint64_t input = passes_input(c, s->B, s->T), off = got - right;
    /* Of two segments, one of them short: without it, half of the bytes remain as well. */
    bool short_lost = which == 2 && got == 2 * input * (uint64_t)(c->L / s->checkpoint.segment);
    if ((uint32_t)got == (uint32_t)right) {
        return "an int holds no more than 2^31 - 1: sizes are computed in size_t";
    }
    if (which != 1 && 2 * got == right && !short_lost) {
        return which == 0 ? "a slot has tokens and targets" : "out and back: twice";
    }
    if (which == 2) {
        return "the input of every segment, of the last one too, out and back; a short last "
               "segment is one as well";
    }
    if (which == 1 && (off == input || off == -input)) {
        return "one input too many or too few: dx and two places, and in a segment the output of "
               "each block";
    }
    return which == 0 ? "two numbers of 4 bytes for each token of each slot"
                      : "dx and two places; then the head, or a segment's blocks and what one "
                        "block's backward takes, whichever is more";
}

static uint64_t bytes_right(const Shape *s, int which) {
    int S = s->checkpoint.segment, L = s->config.L;
    bool huge = s->config.C > 1000;
    uint64_t input = passes_input(&s->config, s->B, s->T);
    size_t peak = passes_peak_worked_out(&s->config, s->B, s->T, S);
    CHECK(huge || peak == passes_peak(&s->config, s->B, s->T, S),
          "what is counted is not what is worked out");
    return which == 0   ? (uint64_t)S * 8 * (uint64_t)s->B * (uint64_t)s->T
           : which == 1 ? peak
                        : 2 * (uint64_t)((L + S - 1) / S) * input;
}

GRADED(08_prefetch, bytes, "task 5: bytes of slots, of an offloaded step, and on the bus") {
    static const char *const what[] = {"prefetch_bytes()", "offload_bytes()", "offload_moved()"};
    Quiz quiz = {.check = check, .numbers = 3};
    for (int i = 0; i < 9; i++) {
        ask(&quiz, (Precision)(i % 3), i == 4 ? ATTENTION_FLASH : ATTENTION_PLAIN, i % 2,
            1 + i / 3);
    }
    ask_large(&quiz, 1, 7);
    ask_large(&quiz, 5, check_int(check, 8, 9));
    ask_many_slots(&quiz);
    if (!quiz_run(&quiz, "formulas/bytes", SECONDS)) {
        return;
    }
    for (int i = 0; i < quiz.count * 3; i++) {
        const Shape *shape = &quiz.shape[i / 3];
        uint64_t got = quiz_answer(&quiz, i / 3)[i % 3], right = bytes_right(shape, i % 3);
        if (got != right) {
            check_fail(check, "%s, %s, %s %d: %llu, %llu is right: %s", what[i % 3],
                       quiz.name[i / 3], i % 3 == 0 ? "slots" : "segment",
                       shape->checkpoint.segment, (unsigned long long)got,
                       (unsigned long long)right, bytes_mistake(shape, i % 3, got, right));
            return;
        }
    }
    check_good(check);
}

/* The record of these copies and kernels, as a right prefetch leaves it, on a machine without
   launch costs. */
GRADED(08_prefetch, time, "task 5: the time of a run, as the makespan has it") {
    enum { RUNS = 12 };
    int32_t count[2 * RUNS];
    float seconds[2 * RUNS];
    for (int i = 0; i < RUNS; i++) {
        count[2 * i] = i == 0 ? 1 : check_int(check, 2, 14);
        count[2 * i + 1] = i % 3 == 0 ? 1 : check_int(check, 2, 4);
        seconds[2 * i] = (float)check_int(check, 1, 999) * 1e-3f;
        seconds[2 * i + 1] = (float)check_int(check, 1, 999) * 1e-3f;
    }
    for (int i = 1; i <= 2; i++) { /* fewer batches than slots, and longer copies than work */
        count[2 * i] = i;
        count[2 * i + 1] = 4;
        seconds[2 * i] = seconds[2 * i + 1] + 0.5f;
    }
    check_give(check, "counts", WIRE_I32, count, 2 * RUNS);
    check_give(check, "seconds", WIRE_F32, seconds, 2 * RUNS);
    check_want(check, "times", WIRE_F32, RUNS);
    if (!check_run(check, "formulas/time", SECONDS)) {
        return;
    }
    const float *got = check_got(check, "times", WIRE_F32);
    for (int i = 0; i < RUNS; i++) {
        double right = machines_pipeline(count[2 * i], count[2 * i + 1], (double)seconds[2 * i],
                                         (double)seconds[2 * i + 1]);
        if (!(fabs((double)got[i] - right) <= 1e-5 * right)) {
            check_fail(check,
                       "batches %d, slots %d, %.3f s to copy, %.3f s to work: %.4f s, the "
                       "makespan is %.4f: %s",
                       count[2 * i], count[2 * i + 1], (double)seconds[2 * i],
                       (double)seconds[2 * i + 1], (double)got[i], right,
                       count[2 * i + 1] == 1
                           ? "with one slot nothing runs beside anything"
                           : "the first copy and the last work have nothing beside them; in "
                             "between the larger stage sets the pace");
            return;
        }
    }
    check_good(check);
}

enum { HIDES = 18 };

/* How many times longer than the copy the products take: forward's, multiplied by `times`. */
static double width_margin(const Shape *shape, int times, double bus, double rate) {
    const ModelConfig *c = &shape->config;
    double C = c->C, bytes = C * (double)precision_bytes(c->precision);
    double work = shape->checkpoint.segment * times * (24 * C * C + 4 * C * shape->T);
    return work / rate * bus / bytes;
}

/* In these questions the answer is known, and the width alone decides: each other term's answer to
   one of them is wrong. */
enum { NOT_HIDDEN = 4, HIDDEN = 7 };

/* Gives a shape a width at which the answer is drawn, and clear. */
static void set_width(Check *check, int i, Shape *shape, double bus, double rate) {
    const int times = TERM_HIDES_IS;
    bool drawn = check_int(check, 0, 1) != 0, hidden = i == HIDDEN || (i != NOT_HIDDEN && drawn);
    int T = check_int(check, 32, 2048) / times;
    shape->T = shape->config.T = i == HIDDEN || i == NOT_HIDDEN ? 32 : T;
    shape->config.C = shape->config.NH;
    while (width_margin(shape, times, bus, rate) < (hidden ? 1.05 : 0.75)) {
        shape->config.C += shape->config.NH;
    }
    if (!hidden && width_margin(shape, times, bus, rate) > 0.97) {
        shape->config.C = shape->config.NH;
    }
}

/* Whether all answers are those of forward's products, multiplied by `times`. */
static bool hides_as(const Quiz *quiz, const float *rates, int times, int *wrong) {
    for (int i = 0; i < HIDES; i++) {
        double bus = (double)rates[2 * i], rate = (double)rates[2 * i + 1];
        if ((*quiz_answer(quiz, i) != 0) != (width_margin(&quiz->shape[i], times, bus, rate) > 1)) {
            *wrong = i;
            return false;
        }
    }
    return true;
}

GRADED(08_prefetch, hides, "task 5: whether the bus is hidden, on three machines") {
    Quiz quiz = {.check = check, .numbers = 1};
    const Term term = TERM_HIDES;
    const int times[] = TERM_HIDES_EACH;
    float rates[2 * HIDES];
    bool fits[TERM_MOST];
    int wrong = 0, other;
    for (int i = 0; i < HIDES; i++) {
        const Machine *machine = machines_declared[i % MACHINES];
        Precision precision = (Precision)(i / 3 % 3);
        ask(&quiz, precision, ATTENTION_PLAIN, i % 2, check_int(check, 1, 3));
        Shape *shape = &quiz.shape[i];
        double rate = precision == F32   ? machine->f32
                      : precision == F16 ? machine->f16
                                         : machine->bf16;
        rates[2 * i] = (float)machine->to_device;
        rates[2 * i + 1] = (float)rate;
        set_width(check, i, shape, (double)rates[2 * i], (double)rates[2 * i + 1]);
    }
    check_give(check, "rates", WIRE_F32, rates, (size_t)2 * HIDES);
    if (!quiz_run(&quiz, "formulas/hides", SECONDS)) {
        return;
    }
    bool good = hides_as(&quiz, rates, TERM_HIDES_IS, &wrong);
    bool hidden = *quiz_answer(&quiz, wrong) == 0;
    check_compared(check, good,
                   "%s, %d blocks a segment, bus %.3g B/s, %.3g FLOP/s: %s: a token has C numbers "
                   "on the bus, and S (24 C C + 4 T C) operations in a segment's forward",
                   quiz.name[wrong], quiz.shape[wrong].checkpoint.segment, (double)rates[2 * wrong],
                   (double)rates[2 * wrong + 1], hidden ? "the bus is hidden" : "it is not");
    for (int k = 0; k < term.count; k++) {
        fits[k] = hides_as(&quiz, rates, times[k], &other);
    }
    check_suspect_term(check, &term, fits);
}
