/* Lab 08, judged. The submission's calls are recorded by the simulator as they are made: clocks say
   what may run beside what, and a declared machine says how long that takes, at least. The bits are
   those of batches that were given, or of the kit's plain step, which runs in another program. */
#include <stdio.h>

#include "grader/labs/08_prefetch/feed.h"
#include "grader/labs/08_prefetch/journeys.h"
#include "grader/labs/08_prefetch/machines.h"
#include "grader/labs/08_prefetch/predictions.h"
#include "grader/labs/08_prefetch/stages.h"

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

static bool expect_end(FeedRun *run) {
    return feed_run(run) && expect_right(run) && feed_expect_landed(run) &&
           (!run->option[FEED_AGAIN] || feed_expect_given_back(run));
}

/* An end comes where it should, through several slots; `one` has the same in one. */
static void expect_ends(FeedRun *run, FeedRun *one) {
    if (expect_end(run) && !expect_end(one)) {
        check_tell(run->check, "\nthe last run had one slot");
    }
}

GRADED(08_prefetch, one_slot, "task 1: every batch in order, through one slot") {
    FeedRun *run = epoch(check, 1);
    if (feed_run(run) && expect_right(run)) {
        feed_expect_edges(run);
    }
}

static bool expect_slot_bytes(const FeedRun *run) {
    const uint64_t *bytes = check_got(run->check, "bytes", WIRE_U64);
    uint64_t want = 8 * (uint64_t)run->option[FEED_TOKENS] * (uint64_t)run->option[FEED_SLOTS];
    uint64_t most = want + SPARE_BYTES * (uint64_t)run->option[FEED_SLOTS];
    if (bytes[BYTES_DATA] != want && bytes[BYTES_DEVICE] == want) {
        check_fail(run->check, "%llu bytes of kind data are allocated, and the slots have %llu",
                   (unsigned long long)bytes[BYTES_DATA], (unsigned long long)want);
        return false;
    }
    return check_compared(run->check, bytes[BYTES_DEVICE] == want && bytes[BYTES_LEFT] == 0,
                          "%llu bytes in the lane \"slots\", and %llu after prefetch_close(): %llu "
                          "and 0 are right",
                          (unsigned long long)bytes[BYTES_DEVICE],
                          (unsigned long long)bytes[BYTES_LEFT], (unsigned long long)want) &&
           check_compared(run->check, bytes[BYTES_HOST] <= most,
                          "%llu bytes of pinned memory for %d slots of %d tokens: tokens and "
                          "targets have %llu",
                          (unsigned long long)bytes[BYTES_HOST], run->option[FEED_SLOTS],
                          run->option[FEED_TOKENS], (unsigned long long)want);
}

GRADED(08_prefetch, pinned, "task 1: from pinned memory, or from pageable; in the slot's bytes") {
    FeedRun *run = epoch(check, 1);
    run->option[FEED_AGAIN] = true;
    if (feed_run(run) && feed_compared(run, !stages_told(run, TOLD_PAGEABLE),
                                       "the reader is given pageable memory")) {
        if (expect_slot_bytes(run) && feed_expect_given_back(run)) {
            check_good(check);
        }
        if (feed_run_pageable(run) && expect_right(run)) {
            feed_expect_given_back(run);
        }
    }
}

/* ---- task 2 ---------------------------------------------------------------------------------- */

GRADED(08_prefetch, slots, "task 2: every batch in order, through several slots") {
    FeedRun *run = epoch(check, check_int(check, 2, 4));
    run->option[FEED_AGAIN] = true;
    if (feed_run(run) && expect_right(run) && expect_slot_bytes(run) && feed_run_pageable(run) &&
        expect_right(run)) {
        feed_expect_given_back(run);
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

static bool expect_no_wait(FeedRun *run) {
    return feed_run(run) && feed_expect_seen(run) &&
           feed_compared(run, !run->present[FEED_HOST_WAITS] && !run->present[FEED_PAGEABLE],
                         "the host waits in prefetch.c between two batches");
}

GRADED(08_prefetch, waits,
       "task 2: in a loop that reads its loss, the host waits for nothing else") {
    FeedRun *run = epoch(check, 4);
    run->option[FEED_LOSS] = true;
    check_after(check, "slots");
    FeedRun *two = feed_in_slots(run, 2);
    if (expect_no_wait(run) && !expect_no_wait(two)) {
        check_tell(check, "\nthe last run had two slots");
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
    feed_reads(run, 2, 2, READ_END);
    feed_actions(run, ACTION_NEXT, 6);
    feed_actions(run, ACTION_STOP, 1);
    feed_actions(run, ACTION_NEXT, 4);
    feed_actions(run, ACTION_STOP, 1);
    feed_actions(run, ACTION_NEXT, 1);
    feed_actions(run, ACTION_STOP, 1); /* after an end before which nothing was read */
    feed_actions(run, ACTION_NEXT, 3);
    expect_ends(run, feed_in_slots(run, 1));
}

GRADED(08_prefetch, failure, "task 3: an error in the reader comes after the batches before it") {
    FeedRun *run = feed_new(check, check_int(check, 2, 3));
    feed_reads(run, 0, 3, READ_FAILS);
    feed_reads(run, 5, run->option[FEED_SLOTS] - 1, READ_END); /* fewer than there are slots */
    feed_reads(run, 0, 0, READ_FAILS);
    feed_reads(run, 2, 2, READ_END);
    feed_actions(run, ACTION_NEXT, 5);
    feed_actions(run, ACTION_STOP, 1);
    feed_actions(run, ACTION_NEXT, 3);
    feed_actions(run, ACTION_STOP, 1);
    feed_actions(run, ACTION_NEXT, 1);
    feed_actions(run, ACTION_STOP, 1);
    feed_actions(run, ACTION_NEXT, 3);
    expect_ends(run, feed_in_slots(run, 1));
}

/* `read` batches are read before the stop, and `done` of them handed out: of these all but the
   first are in other slots than the first, which is filled first after the stop. Batches that were
   read ahead are gone; the reader goes on wherever its caller has put it. */
static void stop_reads(FeedRun *run, int done, int read) {
    int count = run->read_count;
    run->read_count = 0;
    feed_reads(run, 0, read - 1, read - 1);
    feed_reads(run, done, run->batches - done, READ_END);
    while (run->read_count < count) {
        run->reads[run->read_count++] = READ_END;
    }
}

GRADED(08_prefetch, stop, "task 3: stopped in the middle of an epoch, and resumed there") {
    FeedRun *run = feed_new(check, check_int(check, 3, 4));
    int done = check_int(check, 2, 3), slots = run->option[FEED_SLOTS];
    stop_reads(run, done, done + slots - 1);
    feed_actions(run, ACTION_NEXT, done);
    feed_actions(run, ACTION_STOP, 2);
    feed_actions(run, ACTION_NEXT, run->batches - done + 1);
    run->option[FEED_AGAIN] = true;
    FeedRun *one = feed_in_slots(run, 1);
    stop_reads(one, done, done);
    expect_ends(run, one);
}

/* ---- task 4 ---------------------------------------------------------------------------------- */

/* An odd number of segments; offload_memory has an even one. */
GRADED(08_prefetch, offload, "task 4: the bits of a plain step") {
    OffloadRun *run = passes_new(check, 5, 1, 0);
    passes_set_wide_budget(run);
    if (passes_both(run) && passes_same_as_plain(run)) {
        passes_expect_all_moved(run);
    }
}

GRADED(08_prefetch, offload_segments,
       "task 4: segments that do not divide the blocks, dropout, in half") {
    OffloadRun *run = passes_new(check, 5, check_int(check, 2, 3), 0.3f);
    passes_in_half(run);
    passes_set_wide_budget(run);
    if (passes_both(run) && passes_same_as_plain(run) && passes_expect_host(run)) {
        passes_expect_all_moved(run);
    }
}

GRADED(08_prefetch, offload_memory, "task 4: in memory that no segments of lab 04 fit into") {
    OffloadRun *run = passes_new(check, 6, 1, 0);
    run->again = true;
    passes_set_budget(run);
    if (passes_both(run) && passes_same_as_plain(run) && passes_expect_given_back(run) &&
        passes_expect_peak(run)) {
        passes_expect_in_segments(run, 4, passes_expect_peak);
    }
}

GRADED(08_prefetch, offload_moved, "task 4: each input goes out once, and comes back once") {
    OffloadRun *run = passes_new(check, check_int(check, 4, 6), 1, 0);
    passes_set_budget(run);
    if (passes_both(run) && passes_expect_moved(run)) {
        passes_expect_one_segment(run);
    }
}

GRADED(08_prefetch, offload_order, "task 4: each copy after what it needs") {
    OffloadRun *run = passes_new(check, check_int(check, 4, 5), 1, 0);
    check_after(check, "offload offload_moved");
    passes_set_budget(run);
    if (passes_both(run) && passes_expect_edges(run) &&
        passes_expect_in_segments(run, 3, passes_expect_edges)) {
        passes_expect_in_segments(run, run->config.L, passes_expect_edges);
    }
}

GRADED(08_prefetch, offload_overlap, "task 4: copies may run beside the segments") {
    OffloadRun *run = passes_new(check, check_int(check, 4, 5), 1, 0);
    check_after(check, "offload offload_moved");
    passes_set_budget(run);
    if (passes_both(run) && passes_expect_overlap(run) &&
        passes_expect_in_segments(run, 3, passes_expect_overlap)) {
        passes_expect_in_segments(run, run->config.L, passes_expect_overlap);
    }
}

/* ---- task 5 ---------------------------------------------------------------------------------- */

GRADED(08_prefetch, bytes, "task 5: bytes of slots, of an offloaded step, and on the bus") {
    predictions_expect_bytes(check);
}

GRADED(08_prefetch, time, "task 5: the time of a run, as the makespan has it") {
    predictions_expect_time(check);
}

GRADED(08_prefetch, hides, "task 5: whether the bus is hidden, on three machines") {
    predictions_expect_hides(check);
}
