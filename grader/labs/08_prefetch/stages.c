/* Copies, work, and what the clocks say about them. The contract is in stages.h. */
#include "grader/labs/08_prefetch/stages.h"

#include <stdio.h>
#include <string.h>

bool entry_is_of(const CudasimEntry *e, const char *file) {
    const char *name = strrchr(e->file, '/');
    return strcmp(name != NULL ? name + 1 : e->file, file) == 0;
}

static bool is_work(const CudasimEntry *e) {
    return e->kind == CUDASIM_LAUNCH && e->op != NULL && strcmp(e->op, WORK_NAME) == 0;
}

/* Of a batch, or a part of it; those of the other prefetch are its own affair. */
static bool is_copy_in(const CudasimEntry *e) {
    return e->kind == CUDASIM_COPY && e->way == CUDASIM_TO_DEVICE && e->bytes > BESIDE_BYTES &&
           entry_is_of(e, "prefetch.c");
}

/* A batch that is read and never handed out was copied even so: the copies are in the order of the
   reads, those of batches in the order of the actions. */
static size_t batch_bytes(const Batch *batch) {
    return 2 * (size_t)batch->B * (size_t)batch->T * sizeof(int32_t);
}

uint64_t stages_closed(const FeedRun *run) {
    return run->marks > 0 ? run->mark[run->marks - 1]->id : 0;
}

/* No copy follows before all is closed: what is opened and closed after that has copies as well. */
static bool is_last(const FeedRun *run, size_t at) {
    uint64_t closed = stages_closed(run);
    for (; at < run->record.count; at++) {
        const CudasimEntry *e = &run->record.entry[at];
        if (is_copy_in(e) && e->id < closed) {
            check_fail(run->check,
                       "%.0f bytes are copied after the copies of all batches: nothing is copied "
                       "where the reader has given no batch",
                       e->bytes);
            return false;
        }
    }
    return true;
}

/* The copies of the reads, one after the other; each read's bytes are its batch's. */
static bool find_copies(const FeedRun *run, const CudasimEntry *copy[MOST_READS][2]) {
    size_t at = 0;
    for (int r = 0; r < run->seen[run->action_count - 1][SEEN_CALLS]; r++) {
        copy[r][0] = copy[r][1] = NULL;
        if (run->reads[r] < 0) {
            continue;
        }
        double left = (double)batch_bytes(&run->batch[run->reads[r]]), wanted = left;
        for (; at < run->record.count && left > 0; at++) {
            const CudasimEntry *e = &run->record.entry[at];
            if (is_copy_in(e)) {
                copy[r][0] = copy[r][0] != NULL ? copy[r][0] : e;
                copy[r][1] = e;
                left -= e->bytes;
            }
        }
        if (left != 0) {
            check_fail(run->check,
                       "where the copies of batch %d are due, %.0f bytes are copied, and tokens "
                       "and targets of (%d, %d) have %.0f",
                       run->reads[r] + 1, wanted - left, run->batch[run->reads[r]].B,
                       run->batch[run->reads[r]].T, wanted);
            return false;
        }
    }
    return is_last(run, at);
}

/* The actions as they came back: right; right, but for batches that are read later; or else. */
typedef enum FeedSeen { SEEN_RIGHT, SEEN_LATE, SEEN_WRONG } FeedSeen;

static FeedSeen seen_as(const FeedRun *run) {
    const int32_t *got = check_got(run->check, "seen", WIRE_I32);
    FeedSeen seen = SEEN_RIGHT;
    for (int i = 0; i < run->action_count * SEEN_NUMBERS; i++) {
        int32_t want = run->seen[i / SEEN_NUMBERS][i % SEEN_NUMBERS];
        if (got[i] > want || (got[i] < want && i % SEEN_NUMBERS != SEEN_CALLS)) {
            return SEEN_WRONG;
        }
        seen = got[i] < want ? SEEN_LATE : seen;
    }
    return seen;
}

/* From one work to the next, the last entry of its stream that reads a batch. */
static void find_work(FeedRun *run) {
    run->stages = run->marks = 0;
    for (size_t i = 0; i < run->record.count; i++) {
        const CudasimEntry *e = &run->record.entry[i];
        if (is_work(e) && run->stages < MOST_ACTIONS) {
            run->stage[run->stages++] = (FeedStage){.work = e, .reader = e};
        } else if (run->stages > 0 && e->kind == CUDASIM_COPY && e->way == CUDASIM_WITHIN_DEVICE &&
                   e->bytes > BESIDE_BYTES) {
            run->stage[run->stages - 1].reader = e;
        } else if (e->kind == CUDASIM_EVENT && entry_is_of(e, "probe.c") &&
                   run->marks < MOST_ACTIONS) {
            run->mark[run->marks++] = e;
        }
    }
}

bool stages_expect_bytes(FeedRun *run) {
    const CudasimEntry *copy[MOST_READS][2];
    find_work(run);
    return seen_as(run) != SEEN_RIGHT || find_copies(run, copy);
}

/* Puts copies and work together, action by action, as the contract has it. */
static bool join_stages(FeedRun *run, const CudasimEntry *copy[MOST_READS][2]) {
    int stage = 0, base = 0, given = 0;
    for (int i = 0; i < run->action_count; i++) {
        if (run->actions[i] == ACTION_STOP) {
            base = run->seen[i][SEEN_CALLS];
            given = 0;
        } else if (run->handed[i] >= 0 && stage < run->stages) {
            FeedStage *s = &run->stage[stage++];
            s->batch = run->handed[i];
            s->copy[0] = copy[base + given][0];
            s->copy[1] = copy[base + given][1];
            given++;
        }
    }
    bool good = stage == run->stages;
    if (!good) {
        check_fail(run->check, "the work of %d batches is in the record, and %d were handed out",
                   run->stages, stage);
    }
    return good;
}

/* ---- host memory that is freed --------------------------------------------------------------- */

/* Whether the host has waited for the copy before this entry. */
static bool was_awaited(const CudasimRecord *record, const CudasimEntry *copy,
                        const CudasimEntry *free) {
    for (uint64_t id = copy->id + 1; id < free->id; id++) {
        const CudasimEntry *e = &record->entry[id - 1];
        if (e->kind == CUDASIM_HOST_WAIT && record_before(copy, e)) {
            return true;
        }
    }
    return false;
}

/* Whether the call that frees still waits for the copy's stream, and for so much of it. */
static bool waits_for(const CudasimRecord *record, const CudasimEntry *free,
                      const CudasimEntry *copy) {
    for (int i = 0; i < free->after_count; i++) {
        const CudasimEntry *last = &record->entry[free->after[i] - 1];
        if (last->stream == copy->stream && last->number >= copy->number) {
            return !was_awaited(record, copy, free);
        }
    }
    return false;
}

/* A copy of this file that may be in flight where the file calls cudaFreeHost(), from entry `from`
   on; NULL: none. */
static const CudasimEntry *copy_in_flight(const CudasimRecord *record, const char *file,
                                          uint64_t from) {
    for (size_t i = from; i < record->count; i++) {
        const CudasimEntry *e = &record->entry[i];
        bool frees = e->kind == CUDASIM_HOST_WAIT && strcmp(e->name, "cudaFreeHost") == 0;
        for (size_t j = 0; j < i && frees && entry_is_of(e, file); j++) {
            const CudasimEntry *copy = &record->entry[j];
            if (copy->kind == CUDASIM_COPY && entry_is_of(copy, file) &&
                waits_for(record, e, copy)) {
                return copy;
            }
        }
    }
    return NULL;
}

uint64_t stages_marked(const CudasimRecord *record, const char *file) {
    uint64_t last = 0;
    for (size_t i = 0; i < record->count; i++) {
        const CudasimEntry *e = &record->entry[i];
        last = e->kind == CUDASIM_EVENT && entry_is_of(e, file) ? e->id : last;
    }
    return last;
}

bool stages_expect_closed(Check *check, const CudasimRecord *record, const char *name,
                          uint64_t from, uint64_t heap) {
    char file[32], place[CHECK_LABEL];
    snprintf(file, sizeof file, "%s.c", name);
    const CudasimEntry *copy = copy_in_flight(record, file, from);
    if (heap > 0) {
        check_fail(check,
                   "each %s_open() with its %s_close() leaves %llu bytes on the heap: what "
                   "malloc() or calloc() has given goes back by free()",
                   name, name, (unsigned long long)heap);
    } else if (copy != NULL) {
        check_fail(check, "%s_close() frees host memory while %s may be in flight: it waits first",
                   name, record_place(copy, place));
    }
    return heap == 0 && copy == NULL;
}

/* ---- mistakes -------------------------------------------------------------------------------- */

/* Waits of the host in the hand-in between the first work and the last one. */
static bool host_waits(const FeedRun *run) {
    uint64_t first = run->stage[0].work->id, last = run->stage[run->stages - 1].work->id;
    for (uint64_t id = first; id < last; id++) {
        const CudasimEntry *e = &run->record.entry[id - 1];
        if (e->kind == CUDASIM_HOST_WAIT && entry_is_of(e, "prefetch.c") &&
            record_waits(&run->record, e)) {
            return true;
        }
    }
    return false;
}

static bool is_stop_between(const FeedRun *run, int a, int b) {
    uint64_t from = run->stage[a].work->id, to = run->stage[b].work->id;
    for (int i = 0; i < run->marks; i++) {
        if (run->mark[i]->id > from && run->mark[i]->id < to) {
            return true;
        }
    }
    return false;
}

/* Of a work, and the copy of a later batch: in another slot, or in the same. */
static void look_at_pair(FeedRun *run, int i, int j) {
    const FeedStage *now = &run->stage[i], *next = &run->stage[j];
    if (is_stop_between(run, i, j)) {
        return;
    }
    if (j - i >= run->option[FEED_SLOTS]) {
        run->present[FEED_NO_USED] |= !record_before(now->reader, next->copy[0]);
    } else if (now->work->stream == next->copy[0]->stream) {
        run->present[FEED_IN_DEFAULT] = true;
    } else {
        run->present[FEED_WAITS_NEXT] |= record_before(next->copy[0], now->work);
    }
}

/* The reader's letters stand between the simulator's lines. */
bool stages_told(const FeedRun *run, char letter) {
    for (const char *p = check_events(run->check); *p != '\0'; p += *p == '\n') {
        size_t length = strcspn(p, "\n");
        if (strspn(p, (const char[]){TOLD_PINNED, TOLD_PAGEABLE, '\0'}) == length &&
            memchr(p, letter, length) != NULL) {
            return true;
        }
        p += length;
    }
    return false;
}

/* One mistake has consequences that look like others: the first cause alone counts. */
static void find_mistakes(FeedRun *run) {
    bool *present = run->present;
    for (int i = 0; i < run->stages; i++) {
        present[FEED_NO_COPIED] |= !record_before(run->stage[i].copy[1], run->stage[i].work);
        for (int j = i + 1; j < run->stages; j++) {
            look_at_pair(run, i, j);
        }
    }
    present[FEED_PAGEABLE] = stages_told(run, TOLD_PAGEABLE);
    present[FEED_HOST_WAITS] = run->option[FEED_LOSS] && run->stages > 0 && host_waits(run);
    static const FeedMistake causes[] = {FEED_PAGEABLE, FEED_IN_DEFAULT, FEED_HOST_WAITS};
    for (int i = 0; i < 3; i++) {
        if (present[causes[i]]) {
            for (int j = 0; j < FEED_MISTAKES; j++) {
                bool effect = j == FEED_WAITS_NEXT || j == FEED_HOST_WAITS;
                present[j] = present[j] && (j == (int)causes[i] || !effect);
            }
            break;
        }
    }
}

bool stages_find(FeedRun *run) {
    const CudasimEntry *copy[MOST_READS][2];
    FeedSeen seen = seen_as(run);
    find_work(run);
    if (seen != SEEN_RIGHT) {
        run->present[FEED_NOT_AHEAD] = seen == SEEN_LATE;
        return true;
    }
    if (!find_copies(run, copy) || !join_stages(run, copy)) {
        return false;
    }
    find_mistakes(run);
    return true;
}

/* ---- expectations ---------------------------------------------------------------------------- */

bool feed_expect_edges(const FeedRun *run) {
    char text[200], work[CHECK_LABEL], copy[CHECK_LABEL];
    for (int i = 0; i < run->stages; i++) {
        const FeedStage *now = &run->stage[i];
        if (!record_before(now->copy[1], now->work)) {
            snprintf(text, sizeof text, "work on batch %d is not ordered after its copy, %s",
                     now->batch + 1, record_place(now->copy[1], copy));
            return feed_compared(run, false, text);
        }
        int j = i + run->option[FEED_SLOTS];
        if (j < run->stages && !is_stop_between(run, i, j) &&
            !record_before(now->reader, run->stage[j].copy[0])) {
            snprintf(text, sizeof text,
                     "the copy of batch %d, %s, is not ordered after %s of batch %d, which reads "
                     "the same slot",
                     run->stage[j].batch + 1, record_place(run->stage[j].copy[0], copy),
                     record_place(now->reader, work), now->batch + 1);
            return feed_compared(run, false, text);
        }
    }
    return feed_compared(run, true, "");
}

bool feed_expect_overlap(const FeedRun *run) {
    char text[200], copy[CHECK_LABEL];
    for (int i = 0; i < run->stages; i++) {
        for (int j = i + 1; j < i + run->option[FEED_SLOTS] && j < run->stages; j++) {
            const CudasimEntry *next = run->stage[j].copy[0];
            if (!is_stop_between(run, i, j) && !record_may_overlap(next, run->stage[i].work)) {
                snprintf(text, sizeof text,
                         "the copy of batch %d, %s, cannot run beside the work on batch %d",
                         run->stage[j].batch + 1, record_place(next, copy),
                         run->stage[i].batch + 1);
                return feed_compared(run, false, text);
            }
        }
    }
    return feed_compared(run, true, "");
}

bool feed_expect_landed(const FeedRun *run) {
    for (int m = 0; m < run->marks; m++) {
        for (size_t i = 0; i < run->record.count; i++) {
            const CudasimEntry *e = &run->record.entry[i];
            if (is_copy_in(e) && e->id < run->mark[m]->id && !record_before(e, run->mark[m])) {
                char text[200], copy[CHECK_LABEL];
                snprintf(text, sizeof text,
                         "%s may still be in flight where the prefetch has ended or stopped",
                         record_place(e, copy));
                return feed_compared(run, false, text);
            }
        }
    }
    return feed_compared(run, true, "");
}
