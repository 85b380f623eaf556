/* Inputs on their way, and what the clocks say about them. The contract is in journeys.h. */
#include "grader/labs/08_prefetch/journeys.h"

#include <stdio.h>
#include <string.h>

static const char *const pass_sentence[PASS_MISTAKES] = {
    [PASS_SENT_EARLY] = "a copy out is not ordered after the segment that writes the input: the "
                        "copy stream has to wait for an event that is recorded after it",
    [PASS_OVERWRITTEN] = "a segment writes its output while the input in that place is still on "
                         "its way out: the default stream has to wait for that copy",
    [PASS_FETCHED_EARLY] = "a copy back is not ordered after the last reader of what lies in its "
                           "place: the copy stream has to wait for an event after it",
    [PASS_READ_EARLY] = "a segment runs again before its input is back: the default stream has to "
                        "wait for the event after the copy",
    [PASS_NOT_SENT] = "a copy back is not ordered after the copy out of the same input",
    [PASS_IN_DEFAULT] = "the copies are in the default stream, one after the other with the "
                        "segments: they need a stream of their own",
    [PASS_PASSES_WAIT] =
        "the host waits within a pass, or between two, for what is not over: leave "
        "waiting to the streams",
    [PASS_PAGEABLE] = "the host memory is not pinned: the host itself takes part in a copy from or "
                      "to pageable memory; cudaMallocHost()",
    [PASS_SENT_LATE] = "an input goes out after its segment has run: it is complete before, and "
                       "reading it twice at once does no harm",
    [PASS_FETCHED_LATE] = "an input comes back when it is needed: a segment earlier its place is "
                          "free, and the copy runs beside that segment's backward",
    [PASS_WAITS] = "a segment, or the head, waits for the copy that should run beside it: each "
                   "place has an event of its own, and the stream is cudaStreamNonBlocking",
};

/* A run that is right clears no mistake that another run's record shows. */
bool journeys_compared(const OffloadRun *run, bool right, const char *seen) {
    check_compared(run->check, right, "%s", seen);
    for (int i = 0; i < PASS_MISTAKES; i++) {
        check_suspect(run->check, pass_sentence[i], right || run->present[i]);
    }
    return right;
}

/* ---- a pass ---------------------------------------------------------------------------------- */

static bool has_op(const CudasimEntry *e, const char *op) {
    return e->op != NULL && strcmp(e->op, op) == 0;
}

static bool from_offload(const CudasimEntry *e) {
    const char *name = strrchr(e->file, '/');
    return strcmp(name != NULL ? name + 1 : e->file, "offload.c") == 0;
}

static bool is_moved(const CudasimEntry *e) {
    return e->kind == CUDASIM_COPY && from_offload(e);
}

static int segment_of(const OffloadRun *run, int layer) {
    return layer / run->segment;
}

/* GELU number n of a pass: first the blocks in their order, then those of each segment again. */
static void journey_forward(OffloadRun *run, int n, const CudasimEntry *e) {
    int L = run->config.L;
    if (n < L) {
        Journey *journey = &run->journey[segment_of(run, n)];
        journey->first = journey->first != NULL ? journey->first : e;
        journey->last = e;
        return;
    }
    int again = n - L, s = run->segments - 1, count = L - s * run->segment;
    for (; s > 0 && again >= count; s--, count = run->segment) {
        again -= count;
    }
    run->journey[s].again = again == 0 ? e : run->journey[s].again;
}

static void journey_backward(OffloadRun *run, int n, const CudasimEntry *e) {
    int layer = run->config.L - 1 - n;
    if (layer >= 0) {
        run->journey[segment_of(run, layer)].spent = e;
    }
}

/* Out they go in the order of the segments, back in the other. */
static void take_copy(OffloadRun *run, const CudasimEntry *e) {
    bool out = e->way == CUDASIM_FROM_DEVICE;
    int s = out ? run->outs++ : run->segments - 1 - run->backs++;
    if (s >= 0 && s < run->segments) {
        *(out ? &run->journey[s].out : &run->journey[s].back) = e;
    }
}

/* From entry `at` on. @return the end of the pass */
static size_t find_pass(OffloadRun *run, size_t at) {
    const CudasimEntry *entry = run->record.entry;
    memset(run->journey, 0, sizeof run->journey);
    run->head = NULL;
    run->outs = run->backs = run->forwards = run->backwards = 0;
    while (at < run->record.count && !has_op(&entry[at], "embedding_forward")) {
        at++;
    }
    for (; at < run->record.count && !has_op(&entry[at], "embedding_backward"); at++) {
        const CudasimEntry *e = &entry[at];
        if (has_op(e, "gelu_forward")) {
            journey_forward(run, run->forwards++, e);
        } else if (has_op(e, "gelu_backward")) {
            journey_backward(run, run->backwards++, e);
        } else if (has_op(e, "crossentropy_backward") && run->head == NULL) {
            run->head = e;
        } else if (is_moved(e)) {
            take_copy(run, e);
        }
    }
    return at;
}

static void count_moved(OffloadRun *run) {
    for (size_t i = 0; i < run->record.count; i++) {
        const CudasimEntry *e = &run->record.entry[i];
        if (is_moved(e)) {
            run->moved[e->way == CUDASIM_TO_DEVICE] += e->bytes;
        }
    }
}

/* Whether each segment ran, ran again, and had its input out and back. */
static bool is_followed(const OffloadRun *run) {
    bool all = run->outs == run->segments && run->backs == run->segments && run->head != NULL &&
               run->forwards == 2 * run->config.L && run->backwards == run->config.L;
    for (int s = 0; s < run->segments; s++) {
        const Journey *j = &run->journey[s];
        all = all && j->out && j->back && j->first && j->again && j->spent;
    }
    return all;
}

/* ---- mistakes -------------------------------------------------------------------------------- */

/* The last to read what lies in the place of input s when that comes back. */
static const CudasimEntry *last_reader(const OffloadRun *run, int s) {
    int n = run->segments;
    return s == n - 1 ? run->journey[s].last : s == n - 2 ? run->head : run->journey[s + 2].spent;
}

static void look_at_edges(OffloadRun *run, int s) {
    const Journey *j = run->journey;
    bool *present = run->present;
    present[PASS_SENT_EARLY] |= s > 0 && !record_before(j[s - 1].last, j[s].out);
    present[PASS_OVERWRITTEN] |= s + 1 < run->segments && !record_before(j[s].out, j[s + 1].first);
    present[PASS_NOT_SENT] |= !record_before(j[s].out, j[s].back);
    present[PASS_FETCHED_EARLY] |= !record_before(last_reader(run, s), j[s].back);
    present[PASS_READ_EARLY] |= !record_before(j[s].back, j[s].again);
}

/* The work beside which input s comes back. */
static const CudasimEntry *beside_back(const OffloadRun *run, int s, bool first) {
    const Journey *above = &run->journey[s + 1];
    return s == run->segments - 1 ? run->head : first ? above->again : above->spent;
}

static void look_at_overlap(OffloadRun *run, int s) {
    const Journey *j = &run->journey[s];
    bool *present = run->present;
    if (j->out->stream == j->first->stream || j->back->stream == j->first->stream) {
        present[PASS_IN_DEFAULT] = true;
        return;
    }
    present[PASS_SENT_LATE] |= record_before(j->first, j->out);
    present[PASS_WAITS] |= record_before(j->out, j->first);
    present[PASS_FETCHED_LATE] |= record_before(beside_back(run, s, false), j->back);
    present[PASS_WAITS] |= record_before(j->back, beside_back(run, s, true));
}

/* The last entry of the last pass: offload_close(), which comes after it, may wait. */
static uint64_t last_end(const OffloadRun *run) {
    uint64_t id = run->journey[0].spent->id;
    for (size_t i = 0; i < run->record.count; i++) {
        const CudasimEntry *e = &run->record.entry[i];
        id = has_op(e, "embedding_backward") ? e->id : id;
    }
    return id;
}

/* The host waits in the hand-in: within a pass, or after one and before the next. */
static const CudasimEntry *host_wait(const OffloadRun *run) {
    uint64_t end = last_end(run);
    for (size_t i = 0; i < run->record.count; i++) {
        const CudasimEntry *e = &run->record.entry[i];
        if (e->kind == CUDASIM_HOST_WAIT && from_offload(e) && e->id > run->journey[0].out->id &&
            e->id < end && record_waits(&run->record, e)) {
            return e;
        }
    }
    return NULL;
}

/* After the first pass. */
static void look_at_host(OffloadRun *run) {
    const CudasimEntry *wait = host_wait(run);
    run->present[PASS_PAGEABLE] = wait != NULL && strcmp(wait->name, "cudaMemcpyAsync") == 0;
    run->present[PASS_PASSES_WAIT] = wait != NULL && !run->present[PASS_PAGEABLE];
}

/* One mistake has consequences that look like others: the first cause alone counts. */
static void keep_pass_causes(bool present[PASS_MISTAKES]) {
    if (present[PASS_IN_DEFAULT] || present[PASS_PAGEABLE] || present[PASS_PASSES_WAIT]) {
        present[PASS_WAITS] = present[PASS_SENT_LATE] = present[PASS_FETCHED_LATE] = false;
    }
}

bool journeys_find(OffloadRun *run) {
    size_t at = 0;
    if (!record_take(run->check, &run->record)) {
        return false;
    }
    count_moved(run);
    for (int pass = 0; pass < (run->again ? 1 : run->passes); pass++) {
        run->pass = pass;
        at = find_pass(run, at);
        if (!is_followed(run)) {
            break;
        }
        for (int s = 0; s < run->segments; s++) {
            look_at_edges(run, s);
            look_at_overlap(run, s);
        }
        if (pass == 0) {
            look_at_host(run);
        }
    }
    keep_pass_causes(run->present);
    return true;
}

/* ---- expectations ---------------------------------------------------------------------------- */

static bool expect_followed(const OffloadRun *run) {
    if (is_followed(run)) {
        return true;
    }
    char text[200];
    snprintf(text, sizeof text,
             "in pass %d %d copies go out and %d come back of %d inputs, and blocks run %d times "
             "forward and %d times backward",
             run->pass + 1, run->outs, run->backs, run->segments, run->forwards, run->backwards);
    return journeys_compared(run, false, text);
}

static bool expect_none(const OffloadRun *run, const PassMistake *mistake, int count) {
    for (int i = 0; i < count; i++) {
        if (run->present[mistake[i]]) {
            return journeys_compared(run, false, "the record shows it");
        }
    }
    return journeys_compared(run, true, "");
}

bool passes_expect_edges(const OffloadRun *run) {
    static const PassMistake edges[] = {PASS_SENT_EARLY, PASS_OVERWRITTEN, PASS_FETCHED_EARLY,
                                        PASS_READ_EARLY, PASS_NOT_SENT};
    return expect_followed(run) && expect_none(run, edges, 5);
}

bool passes_expect_overlap(const OffloadRun *run) {
    static const PassMistake late[] = {PASS_IN_DEFAULT, PASS_PASSES_WAIT,  PASS_PAGEABLE,
                                       PASS_SENT_LATE,  PASS_FETCHED_LATE, PASS_WAITS};
    return expect_followed(run) && expect_none(run, late, 6);
}
