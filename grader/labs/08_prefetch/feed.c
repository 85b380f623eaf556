/* A run of batches: what is given, and what is right. The contract is in feed.h; the record is read
   in stages.c. */
#include "grader/labs/08_prefetch/feed.h"

#include <stdio.h>
#include <string.h>

#include "grader/labs/08_prefetch/stages.h"

enum { FEED_V = 250 };

/* The first batch is smaller than the one after it: none of them says how large a slot is. */
FeedRun *feed_new(Check *check, int slots) {
    FeedRun *run = (FeedRun *)check_doubles(check, sizeof *run / sizeof(double) + 1);
    *run = (FeedRun){.check = check, .batches = 9};
    int B = check_int(check, 3, 5), T = check_int(check, 17, 40);
    for (int i = 0; i < run->batches; i++) {
        bool last = i == run->batches - 1;
        run->batch[i] = batch_full(check, FEED_V, last ? B - check_int(check, 1, 2) : B,
                                   i == 0 || i % 4 == 2 ? T - check_int(check, 1, 9) : T);
        batch_cut_row(check, &run->batch[i], 0, T / 3);
    }
    run->option[FEED_SLOTS] = slots;
    run->option[FEED_TOKENS] = B * T;
    run->option[FEED_WORK] = 64;
    run->option[FEED_COPY_BACK] = true;
    return run;
}

FeedRun *feed_in_slots(const FeedRun *run, int slots) {
    FeedRun *other = (FeedRun *)check_doubles(run->check, sizeof *other / sizeof(double) + 1);
    *other = (FeedRun){.check = run->check, .batches = run->batches, .again = true};
    memcpy(other->option, run->option, sizeof other->option);
    memcpy(other->batch, run->batch, sizeof other->batch);
    memcpy(other->reads, run->reads, sizeof other->reads);
    memcpy(other->actions, run->actions, sizeof other->actions);
    other->read_count = run->read_count;
    other->action_count = run->action_count;
    other->option[FEED_SLOTS] = slots;
    return other;
}

void feed_reads(FeedRun *run, int first, int count, int32_t then) {
    for (int i = 0; i < count; i++) {
        run->reads[run->read_count++] = first + i;
    }
    run->reads[run->read_count++] = then;
}

void feed_actions(FeedRun *run, int32_t action, int count) {
    for (int i = 0; i < count; i++) {
        run->actions[run->action_count++] = action;
    }
}

/* ---- what is right --------------------------------------------------------------------------- */

/* The contract, without memory and without a device: what is read when, and handed out. */
static void feed_work_out(FeedRun *run) {
    int read = 0, calls = 0, given = 0, result = 1, kept[MOST_READS];
    for (int i = 0; i < run->action_count; i++) {
        int32_t *seen = run->seen[i];
        run->handed[i] = -1;
        if (run->actions[i] == ACTION_STOP) {
            read = given = 0;
            result = 1;
        } else {
            while (result == 1 && read - given < run->option[FEED_SLOTS]) {
                int32_t which = run->reads[calls++];
                result = which == READ_END ? 0 : which == READ_FAILS ? -1 : 1;
                kept[read] = which;
                read += result == 1;
            }
            seen[SEEN_RESULT] = read > given ? 1 : result;
            run->handed[i] = read > given ? kept[given++] : -1;
        }
        seen[SEEN_B] = seen[SEEN_T] = seen[SEEN_VALID] = SEEN_BEFORE;
        if (run->handed[i] >= 0) {
            const Batch *batch = &run->batch[run->handed[i]];
            seen[SEEN_VALID] = 0;
            seen[SEEN_B] = batch->B;
            seen[SEEN_T] = batch->T;
            for (int j = 0; j < batch->B * batch->T; j++) {
                seen[SEEN_VALID] += batch->targets[j] != IGNORE_INDEX;
            }
        }
        seen[SEEN_CALLS] = calls;
    }
}

/* Numbers of all batches that will be handed out. */
static size_t feed_back_numbers(const FeedRun *run) {
    size_t numbers = 0;
    for (int i = 0; i < run->action_count && run->option[FEED_COPY_BACK]; i++) {
        if (run->handed[i] >= 0) {
            const Batch *batch = &run->batch[run->handed[i]];
            numbers += 2 * (size_t)batch->B * (size_t)batch->T;
        }
    }
    return numbers;
}

static void feed_give(FeedRun *run) {
    Check *check = run->check;
    feed_work_out(run);
    if (run->again) {
        check_give_again(check, "options", WIRE_I32, run->option, FEED_OPTIONS);
        check_give_again(check, "reads", WIRE_I32, run->reads, (size_t)run->read_count);
        return;
    }
    batches_give(check, run->batch, run->batches);
    check_give(check, "options", WIRE_I32, run->option, FEED_OPTIONS);
    check_give(check, "reads", WIRE_I32, run->reads, (size_t)run->read_count);
    check_give(check, "actions", WIRE_I32, run->actions, (size_t)run->action_count);
    check_want(check, "seen", WIRE_I32, (size_t)run->action_count * SEEN_NUMBERS);
    check_want(check, "back", WIRE_I32, feed_back_numbers(run));
    check_want(check, "bytes", WIRE_U64, BYTES_NUMBERS);
    check_memory(check, 0);
    profile_want(check);
}

/* Where the clocks know a reason, a report of the simulator is a consequence. */
static bool feed_expect_no_problem(const FeedRun *run) {
    bool known = false;
    for (int i = 0; i < FEED_MISTAKES; i++) {
        known = known || run->present[i];
    }
    return known && profile_problems(run->check) > 0
               ? feed_compared(run, false, "the simulator has reported a problem")
               : profile_expect_no_problem(run->check);
}

bool feed_run(FeedRun *run) {
    feed_give(run);
    return check_run(run->check, "batches", SECONDS) && record_take(run->check, &run->record) &&
           stages_find(run) && feed_expect_no_problem(run);
}

bool feed_run_pageable(const FeedRun *run) {
    FeedRun pageable = *run;
    if (!check_run(run->check, "pageable", SECONDS) || !profile_expect_no_problem(run->check) ||
        !record_take(run->check, &pageable.record) || !stages_expect_bytes(&pageable)) {
        return false;
    }
    if (stages_told(run, TOLD_PINNED)) {
        check_fail(run->check, "pageable memory is asked for, and the reader is given pinned");
        return false;
    }
    return true;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static const char *const feed_sentence[FEED_MISTAKES] = {
    [FEED_PAGEABLE] = "the host memory is not pinned: the host itself takes part in a copy from "
                      "pageable memory; cudaMallocHost()",
    [FEED_NO_COPIED] = "the work on a batch is not ordered after its copy: the default stream has "
                       "to wait for the event after the copy, before the batch is handed out",
    [FEED_NO_USED] = "a copy into a slot is not ordered after the work on the batch that was "
                     "there: the *copy* stream has to wait for an event that is recorded in the "
                     "default stream when all of that work is enqueued",
    [FEED_IN_DEFAULT] = "the copies are in the default stream, one after the other with the work: "
                        "they need a stream of their own",
    [FEED_HOST_WAITS] = "the host waits in the loop for what is not over: what it would have "
                        "enqueued meanwhile comes too late; leave waiting to the streams",
    [FEED_NOT_AHEAD] = "a batch is read when it is needed, and not while the one before is worked "
                       "on: each call fills all free slots",
    [FEED_WAITS_NEXT] = "the work on a batch waits for the copy of a later one: does the default "
                        "stream wait for the whole stream (cudaStreamNonBlocking), or is one event "
                        "recorded for several slots?",
};

/* A run that is right clears no mistake that another run's record shows. */
bool feed_compared(const FeedRun *run, bool right, const char *seen) {
    check_compared(run->check, right, "%s", seen);
    for (int i = 0; i < FEED_MISTAKES; i++) {
        check_suspect(run->check, feed_sentence[i], right || run->present[i]);
    }
    return right;
}

bool feed_expect_seen(const FeedRun *run) {
    static const char *const what[] = {"it gives", "its batch has B =", "its batch has T =",
                                       "its batch has valid =", "calls of the reader so far:"};
    const int32_t *got = check_got(run->check, "seen", WIRE_I32);
    for (int i = 0; i < run->action_count * SEEN_NUMBERS; i++) {
        int action = i / SEEN_NUMBERS, number = i % SEEN_NUMBERS;
        int32_t want = run->seen[action][number];
        if (got[i] != want) {
            char text[200];
            bool of_batch = number == SEEN_B || number == SEEN_T || number == SEEN_VALID;
            if (of_batch && run->handed[action] < 0) {
                snprintf(text, sizeof text,
                         "call %d, prefetch_next(): there is no batch, and `batch` is written: it "
                         "is left alone",
                         action + 1);
                return feed_compared(run, false, text);
            }
            snprintf(text, sizeof text, "call %d, %s: %s %d, %d is right", action + 1,
                     run->actions[action] == ACTION_STOP ? "prefetch_stop()" : "prefetch_next()",
                     what[number], got[i], want);
            feed_compared(run, false, text);
            if (action > 0 && run->actions[action - 1] == ACTION_STOP) {
                check_tell(run->check,
                           "\nit is the first call after prefetch_stop(), from which on "
                           "the reader is asked anew");
            }
            if (run->option[FEED_AGAIN] && action > 0) {
                check_tell(run->check, "\nanother prefetch was opened after the first call of this "
                                       "one, and is closed after it");
            }
            return false;
        }
    }
    return feed_compared(run, true, "");
}

/* Which of the given batches this is, bit for bit; -1: none. */
static int feed_which(const FeedRun *run, const Batch *shape, const int32_t *tokens) {
    size_t N = (size_t)shape->B * (size_t)shape->T;
    for (int i = 0; i < run->batches; i++) {
        const Batch *batch = &run->batch[i];
        if ((size_t)batch->B * (size_t)batch->T >= N &&
            memcmp(batch->tokens, tokens, N * sizeof *tokens) == 0) {
            return i;
        }
    }
    return -1;
}

bool feed_expect_batches(const FeedRun *run) {
    const int32_t *got = check_got(run->check, "back", WIRE_I32);
    for (int i = 0; i < run->action_count; i++) {
        if (run->handed[i] < 0) {
            continue;
        }
        const Batch *want = &run->batch[run->handed[i]];
        size_t N = (size_t)want->B * (size_t)want->T;
        bool tokens = memcmp(got, want->tokens, N * sizeof *got) == 0;
        bool targets = memcmp(got + N, want->targets, N * sizeof *got) == 0;
        if (!tokens || !targets) {
            char text[200];
            int which = tokens ? -1 : feed_which(run, want, got);
            snprintf(text, sizeof text, "call %d: the work finds other %s than those of batch %d%s",
                     i + 1, tokens ? "targets" : "tokens", run->handed[i] + 1,
                     which >= 0 ? ", those of another batch" : "");
            return feed_compared(run, false, text);
        }
        got += 2 * N;
    }
    return feed_compared(run, true, "");
}

bool feed_expect_given_back(const FeedRun *run) {
    const uint64_t *bytes = check_got(run->check, "bytes", WIRE_U64);
    if (bytes[BYTES_PINNED] > 0) {
        check_fail(run->check,
                   "%llu bytes of pinned memory are still there after prefetch_close(): "
                   "cudaFreeHost() gives them back",
                   (unsigned long long)bytes[BYTES_PINNED]);
    } else if (bytes[BYTES_HEAP] > 0) {
        check_fail(run->check, "after prefetch_close() the heap has as much more in use as a slot "
                               "of pageable memory takes: free() gives it back");
    } else if (bytes[BYTES_KEPT] > 0) {
        check_fail(run->check,
                   "streams or events are still there after prefetch_close(), %llu of them: "
                   "cudaStreamDestroy() and cudaEventDestroy() give them back",
                   (unsigned long long)bytes[BYTES_KEPT]);
    } else {
        return stages_expect_closed(run->check, &run->record, "prefetch", stages_closed(run),
                                    bytes[BYTES_EACH]);
    }
    return false;
}
