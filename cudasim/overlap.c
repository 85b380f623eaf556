#include <stdlib.h>

#include "clock/meeting.h"
#include "clock/memory.h"
#include "device.h"
#include "record.h"

/* Whether two entries are ordered. The clock of an entry says what comes before it by its own
   rank's streams, events and waits. Calls of several ranks that meet begin together and end
   together, so one who comes after one of them comes after all, and after what came before them:
   their clocks are joined, then those of the meetings that became known by it, and so on. */

/* Knowledge of what is over: of each queue and of each host, the last entry. */
typedef struct Known {
    uint64_t (*queue)[QUEUES]; /* (rows) ids; in a dry run a row for each rank, else one */
    uint64_t *host;            /* (ranks) ids */
    bool *met;                 /* (meetings) */
} Known;

static CudasimRecord record;
static Meetings meetings; /* of that record */
static int ranks;

static int row_of(int rank) {
    return sim_settings.dry ? rank : 0;
}

/* A record grows, and is asked many times as it is. */
static void look_at_record(void) {
    CudasimRecord now = cudasim_record();
    if (now.count == record.count && now.entry == record.entry) {
        return;
    }
    meetings_free(&meetings);
    record = now;
    meetings_of_calls(&record, &meetings);
    ranks = 1;
    for (size_t i = 0; i < record.count; i++) {
        ranks = record.entry[i].rank >= ranks ? record.entry[i].rank + 1 : ranks;
    }
}

static Known known_new(void) {
    return (Known){.queue = clock_new((size_t)(row_of(ranks - 1) + 1), sizeof(uint64_t[QUEUES])),
                   .host = clock_new((size_t)ranks, sizeof(uint64_t)),
                   .met = clock_new((size_t)meetings.count, sizeof(bool))};
}

static void known_free(Known *known) {
    free(known->queue);
    free(known->host);
    free(known->met);
}

static void raise_to(uint64_t *place, uint64_t id) {
    *place = id > *place ? id : *place;
}

/* Calls of one group begin side by side, though they are in one queue: the first of them. */
static const CudasimEntry *first_of_group(const CudasimEntry *e) {
    for (const CudasimEntry *first = e;; first = e) {
        uint64_t id = e->group != 0 ? record_entry_at(e->stream, e->number - 1, e->rank) : 0;
        e = id != 0 ? &record.entry[id - 1] : NULL;
        if (e == NULL || e->group != first->group || e->communicator != first->communicator) {
            return first;
        }
    }
}

/* All that comes before an entry is over. */
static void learn(Known *known, const CudasimEntry *e) {
    int row = row_of(e->rank);
    for (int s = 0; s < e->clock_count; s++) {
        uint64_t id = s != e->stream ? record_entry_at(s, e->clock[s], e->rank) : 0;
        if (id != 0) {
            raise_to(&known->queue[row][s], id);
            raise_to(&known->host[record.entry[id - 1].rank], id);
        }
    }
    if (e->stream >= 0) {
        raise_to(&known->queue[row][e->stream], first_of_group(e)->id - 1);
    }
    raise_to(&known->host[e->rank], e->id - 1);
}

static void learn_meeting(Known *known, int m) {
    for (int k = 0; k < meetings.meeting[m].count; k++) {
        learn(known, &record.entry[meetings.meeting[m].member[k]]);
    }
}

static bool in_queue_before(const Known *known, const CudasimEntry *e) {
    return known->queue[row_of(e->rank)][e->stream] >= e->id;
}

static bool is_over(const Known *known, int m) {
    for (int k = 0; k < meetings.meeting[m].count; k++) {
        if (in_queue_before(known, &record.entry[meetings.meeting[m].member[k]])) {
            return true;
        }
    }
    return false;
}

/* To know of one meeting may make another known. Most lead to earlier ones. */
static void learn_meetings(Known *known, int but) {
    for (bool more = true; more;) {
        more = false;
        for (int m = meetings.count - 1; m >= 0; m--) {
            if (m != but && !known->met[m] && is_over(known, m)) {
                known->met[m] = more = true;
                learn_meeting(known, m);
            }
        }
    }
}

static bool comes_before(const CudasimEntry *a, const CudasimEntry *b) {
    int of_a = meetings.of[a->id - 1], of_b = meetings.of[b->id - 1];
    Known known = known_new();
    of_b >= 0 ? learn_meeting(&known, of_b) : learn(&known, b);
    learn_meetings(&known, of_b);
    bool before = of_a >= 0       ? known.met[of_a]
                  : a->stream < 0 ? known.host[a->rank] >= a->id
                                  : in_queue_before(&known, a);
    known_free(&known);
    return before;
}

bool cudasim_may_overlap(uint64_t a, uint64_t b) {
    const CudasimEntry *x = cudasim_entry(a), *y = cudasim_entry(b);
    if (x == NULL || y == NULL || a == b) {
        return false;
    }
    look_at_record();
    return !comes_before(x, y) && !comes_before(y, x);
}
