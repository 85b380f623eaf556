/* Gathers and parts in a record. The contract is in ahead.h. */
#include "grader/labs/12_zero/ahead.h"

#include <stdio.h>
#include <string.h>

/* Of one rank in one micro-batch: the first and the last work of each part, and the gathers in the
   order of calls. */
typedef struct AheadRank {
    int parts, gathers;
    const CudasimEntry *first[ZERO_MOST_PARTS], *last[ZERO_MOST_PARTS], *gather[ZERO_MOST_PARTS];
} AheadRank;

/* Ways in which the order is wrong. */
typedef enum AheadMistake {
    AHEAD_IN_DEFAULT,  /* in the default stream */
    AHEAD_HOST,        /* the host waits */
    AHEAD_SOON,        /* sent for when more than one part comes before its own */
    AHEAD_EARLY,       /* before the slot is free */
    AHEAD_LATE,        /* after the part that it should run beside */
    AHEAD_WAITED,      /* that part waits for it */
    AHEAD_NOT_AWAITED, /* its own part does not */
    AHEAD_MISTAKES
} AheadMistake;

static const char *const ahead_sentence[AHEAD_MISTAKES] = {
    [AHEAD_IN_DEFAULT] = "the gathers are in the default stream, one after the other with the work "
                         "of the parts: they need a stream of their own, cudaStreamNonBlocking",
    [AHEAD_HOST] = "the host waits in ahead.c for what is not over: leave waiting to the streams",
    [AHEAD_SOON] =
        "a unit is sent for too soon: in each part it is the unit of the one after it, and "
        "no other",
    [AHEAD_EARLY] = "a gather is not ordered after the part that used its slot: its stream has to "
                    "wait for an event that is recorded in the default stream when it is sent for",
    [AHEAD_LATE] = "a unit is sent for when the part before it has run: that is when it begins",
    [AHEAD_WAITED] =
        "a part waits for the unit of the one after it: gathers are in a stream that is "
        "cudaStreamNonBlocking, and the default stream waits in zero_ahead_come()",
    [AHEAD_NOT_AWAITED] = "a part is not ordered after the gather of its unit: before it, the "
                          "default stream waits for an event that is recorded after the gather",
};

/* ---- the record ------------------------------------------------------------------------------ */

static bool is_gather(const CudasimEntry *e) {
    return e->kind == CUDASIM_COLLECTIVE && e->collective == CUDASIM_ALL_GATHER;
}

static bool is_of_a_part(const CudasimEntry *e) {
    return e->kind == CUDASIM_LAUNCH || e->kind == CUDASIM_PRODUCT;
}

/* Micro-batch m of rank r; of it no gather comes before its first part is entered. */
static bool find_all(const ZeroRun *run, const CudasimRecord *record, int r, int m,
                     AheadRank *rank) {
    const uint64_t *told = check_got(run->check, "parts", WIRE_U64);
    *rank = (AheadRank){.parts = 2 * run->given.config.L + 4};
    told += ((size_t)r * ZERO_MOST_PARTS + (size_t)(m * rank->parts)) * PLACES;
    uint64_t end = told[(rank->parts - 1) * PLACES + PLACE_ENDED];
    for (uint64_t i = told[PLACE_ENTERED]; i < record->count && i < end; i++) {
        const CudasimEntry *e = &record->entry[i];
        if (e->rank == r && is_gather(e) && rank->gathers < ZERO_MOST_PARTS) {
            rank->gather[rank->gathers++] = e;
        }
        for (int p = 0; e->rank == r && is_of_a_part(e) && p < rank->parts; p++) {
            if (told[p * PLACES + PLACE_BEGAN] < e->id && e->id <= told[p * PLACES + PLACE_ENDED]) {
                rank->first[p] = rank->first[p] != NULL ? rank->first[p] : e;
                rank->last[p] = e;
            }
        }
    }
    for (int p = 0; p < rank->parts; p++) {
        if (rank->first[p] == NULL) {
            check_fail(run->check, "part %d of pass %d of rank %d is not in the record", p, m, r);
            return false;
        }
    }
    return true;
}

/* The part that gather k is for: the head's backward has the unit of its forward. */
static int part_of_gather(const ZeroRun *run, int k) {
    return k < run->given.config.L + 2 ? k : k + 1;
}

/* ---- in which order -------------------------------------------------------------------------- */

static bool is_of_ahead(const CudasimEntry *e) {
    const char *name = e->file != NULL ? strrchr(e->file, '/') : NULL;
    return e->file != NULL && strcmp(name != NULL ? name + 1 : e->file, "ahead.c") == 0;
}

static bool ahead_host_waits(const CudasimRecord *record, const AheadRank *rank) {
    for (uint64_t id = rank->first[0]->id; id <= rank->last[rank->parts - 1]->id; id++) {
        const CudasimEntry *e = &record->entry[id - 1];
        if (e->rank == rank->first[0]->rank && e->kind == CUDASIM_HOST_WAIT && is_of_ahead(e) &&
            record_waits(record, e)) {
            return true;
        }
    }
    return false;
}

/* Beside the first gather no part runs: it may be in any stream. */
static void look_at_gather(const ZeroRun *run, const CudasimRecord *record, const AheadRank *rank,
                           int k, bool present[AHEAD_MISTAKES]) {
    const CudasimEntry *gather = rank->gather[k];
    int part = part_of_gather(run, k);
    present[AHEAD_NOT_AWAITED] |= !ranks_before(record, gather, rank->first[part]);
    if (part > 1) {
        bool soon = gather->id < rank->last[part - 2]->id;
        present[AHEAD_SOON] |= soon;
        present[AHEAD_EARLY] |= !soon && !ranks_before(record, rank->last[part - 2], gather);
    }
    if (part > 0) {
        present[AHEAD_IN_DEFAULT] |= gather->stream == rank->first[0]->stream;
        present[AHEAD_LATE] |= ranks_before(record, rank->first[part - 1], gather);
        present[AHEAD_WAITED] |= ranks_before(record, gather, rank->last[part - 1]);
    }
}

/* One mistake has consequences that look like others: the first cause alone counts. */
static void ahead_keep_causes(bool present[AHEAD_MISTAKES]) {
    if (present[AHEAD_IN_DEFAULT] || present[AHEAD_HOST]) {
        for (int m = AHEAD_SOON; m < AHEAD_MISTAKES; m++) {
            present[m] = false;
        }
    }
}

/* Of the mistakes that a single gather can have. */
static bool ahead_is_wrong(const bool present[AHEAD_MISTAKES]) {
    bool wrong = false;
    for (int m = 0; m < AHEAD_MISTAKES; m++) {
        wrong = wrong || (m != AHEAD_HOST && present[m]);
    }
    return wrong;
}

/* Where to look: the first gather that has one, or the last of all. */
static bool ahead_compare(Check *check, const bool present[AHEAD_MISTAKES], const AheadRank *rank,
                          int m, int first) {
    bool right = !ahead_is_wrong(present) && !present[AHEAD_HOST];
    int k = first >= 0 ? first : rank->gathers - 1;
    char place[CHECK_LABEL];
    check_compared(check, right, "micro-batch %d: gather %d of %d, for %d parts, by %s", m, k + 1,
                   rank->gathers, rank->parts, record_place(rank->gather[k], place));
    return right;
}

/* One micro-batch on every rank. */
static bool ahead_expect_pass(const ZeroRun *run, const CudasimRecord *record, int m) {
    Check *check = run->check;
    bool present[AHEAD_MISTAKES] = {false};
    int wanted = 2 * run->given.config.L + 2, first = -1;
    AheadRank rank = {0};
    for (int r = 0; r < run->option[RANKS_COUNT]; r++) {
        if (!find_all(run, record, r, m, &rank)) {
            return false;
        }
        if (rank.gathers != wanted) {
            return check_compared(check, false,
                                  "rank %d gathers %d units in micro-batch %d, %d are right: in "
                                  "forward unit 0, the blocks, unit 0, in backward the blocks",
                                  r, rank.gathers, m, wanted);
        }
        present[AHEAD_HOST] |= ahead_host_waits(record, &rank);
        for (int k = 0; k < rank.gathers; k++) {
            look_at_gather(run, record, &rank, k, present);
            first = first < 0 && ahead_is_wrong(present) ? k : first;
        }
    }
    ahead_keep_causes(present);
    bool right = ahead_compare(check, present, &rank, m, first);
    for (int i = 0; i < AHEAD_MISTAKES; i++) { /* a pass that is right clears no other pass */
        check_suspect(check, ahead_sentence[i], right || present[i]);
    }
    return right;
}

bool ahead_expect_order(ZeroRun *run) {
    CudasimRecord record;
    bool right = record_take(run->check, &record);
    for (int m = 0; right && m < run->option[ZERO_STEPS]; m++) {
        right = ahead_expect_pass(run, &record, m);
    }
    return right;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Whether the host has waited for an entry when there were `count` of them. */
static bool host_knows_end(const CudasimRecord *record, const CudasimEntry *e, uint64_t count) {
    for (uint64_t id = e->id + 1; id <= count && id <= record->count; id++) {
        const CudasimEntry *wait = &record->entry[id - 1];
        if (wait->rank == e->rank && wait->kind == CUDASIM_HOST_WAIT && record_before(e, wait)) {
            return true;
        }
    }
    return false;
}

bool ahead_expect_closed(ZeroRun *run) {
    const uint64_t *closed = check_got(run->check, "closed", WIRE_U64);
    CudasimRecord record;
    if (!record_take(run->check, &record)) {
        return false;
    }
    for (size_t i = record.count; i-- > 0;) {
        const CudasimEntry *e = &record.entry[i];
        uint64_t count = e->rank >= 0 && e->rank < run->option[RANKS_COUNT] ? closed[e->rank] : 0;
        if (is_gather(e) && e->id <= count && !host_knows_end(&record, e, count)) {
            char place[CHECK_LABEL];
            check_fail(
                run->check,
                "rank %d was closed while a unit was on its way, by %s, and the host has not "
                "waited for it: zero_ahead_close() waits for its stream, since the memory "
                "of the slots is given back after it",
                e->rank, record_place(e, place));
            return false;
        }
    }
    return true;
}
