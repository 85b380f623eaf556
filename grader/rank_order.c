/* The order of entries over all ranks. The contract is in rank_order.h. */
#include "grader/rank_order.h"

#include <stdlib.h>

#include "cudasim/clock/meeting.h"
#include "kernels/base.h"

/* All that comes before one entry. */
typedef struct RankPast {
    const CudasimRecord *record;
    const Meetings *meetings;
    bool *before; /* (entries) */
    bool *begun;  /* (entries) what comes before it has been looked at */
    int *open;    /* entries whose predecessors are to be looked at */
    int count;    /* of these */
} RankPast;

/* Predecessors of an entry come before all that meet it. */
static void past_begin(RankPast *past, int entry) {
    int m = past->meetings->of[entry];
    int sides = m >= 0 ? past->meetings->meeting[m].count : 1;
    for (int k = 0; k < sides; k++) {
        int side = m >= 0 ? past->meetings->meeting[m].member[k] : entry;
        if (!past->begun[side]) {
            past->begun[side] = true;
            past->open[past->count++] = side;
        }
    }
}

/* An entry is over: so are all that meet it, and what comes before these in their groups. */
static void past_end(RankPast *past, int entry) {
    int m = past->meetings->of[entry];
    int sides = m >= 0 ? past->meetings->meeting[m].count : 1;
    for (int k = 0; k < sides; k++) {
        int side = m >= 0 ? past->meetings->meeting[m].member[k] : entry;
        if (!past->before[side]) {
            past->before[side] = past->begun[side] = true;
            past->open[past->count++] = side;
        }
    }
}

static bool one_group(const CudasimEntry *a, const CudasimEntry *b) {
    return a->group != 0 && a->group == b->group && a->rank == b->rank &&
           a->communicator == b->communicator;
}

static void past_find(RankPast *past, int of) {
    past_begin(past, of);
    while (past->count > 0) {
        const CudasimEntry *e = &past->record->entry[past->open[--past->count]];
        for (int k = 0; k < e->after_count; k++) {
            int entry = (int)e->after[k] - 1;
            bool beside = one_group(e, &past->record->entry[entry]);
            if (beside && !past->before[e - past->record->entry]) {
                past_begin(past, entry);
            } else {
                past_end(past, entry);
            }
        }
    }
}

/* The last entry that was asked about, of one record. */
static struct {
    const CudasimEntry *entry;
    size_t count;
    Meetings meetings;
    const CudasimEntry *of;
    bool *before;
} asked;

bool ranks_before(const CudasimRecord *record, const CudasimEntry *a, const CudasimEntry *b) {
    if (asked.entry != record->entry || asked.count != record->count) {
        meetings_free(&asked.meetings);
        meetings_of_calls(record, &asked.meetings);
        asked.entry = record->entry;
        asked.count = record->count;
        asked.of = NULL;
    }
    if (asked.of != b) {
        size_t n = record->count;
        free(asked.before);
        RankPast past = {.record = record,
                         .meetings = &asked.meetings,
                         .before = calloc(n, sizeof(bool)),
                         .begun = calloc(n, sizeof(bool)),
                         .open = calloc(2 * n, sizeof(int))};
        CHECK(past.before && past.begun && past.open, "no memory for %zu entries", n);
        past_find(&past, (int)b->id - 1);
        free(past.begun);
        free(past.open);
        asked.before = past.before;
        asked.of = b;
    }
    return asked.before[a->id - 1];
}

bool ranks_may_overlap(const CudasimRecord *record, const CudasimEntry *a, const CudasimEntry *b) {
    return a != b && !ranks_before(record, a, b) && !ranks_before(record, b, a);
}
