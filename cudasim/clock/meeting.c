/* Who meets whom. The contract is in meeting.h. */
#include "cudasim/clock/meeting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudasim/clock/memory.h"

/* One side of a meeting: entries that have the same key meet. */
typedef struct MeetingSide {
    bool message;
    uint64_t communicator;
    int from, to; /* of a message */
    uint64_t call;
    int entry;
} MeetingSide;

typedef struct MeetingSides {
    MeetingSide *side;
    int count, room;
} MeetingSides;

static MeetingSide side_of(const CudasimEntry *e, int i) {
    bool sends = e->collective == CUDASIM_SEND, receives = e->collective == CUDASIM_RECEIVE;
    return (MeetingSide){.message = sends || receives,
                         .communicator = e->communicator,
                         .from = sends      ? e->comm_rank
                                 : receives ? e->peer
                                            : 0,
                         .to = sends      ? e->peer
                               : receives ? e->comm_rank
                                          : 0,
                         .call = e->call,
                         .entry = i};
}

static int order(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

static int by_key(const MeetingSide *a, const MeetingSide *b) {
    int sign = order(a->message, b->message);
    sign = sign != 0 ? sign : order(a->communicator, b->communicator);
    sign = sign != 0 ? sign : order((uint64_t)a->from, (uint64_t)b->from);
    sign = sign != 0 ? sign : order((uint64_t)a->to, (uint64_t)b->to);
    return sign != 0 ? sign : order(a->call, b->call);
}

static int by_key_and_entry(const void *a, const void *b) {
    const MeetingSide *x = a, *y = b;
    int sign = by_key(x, y);
    return sign != 0 ? sign : order((uint64_t)x->entry, (uint64_t)y->entry);
}

/* Sorted, those that meet stand side by side. */
static MeetingSides sides_of(const CudasimRecord *record) {
    MeetingSides sides = {0};
    for (size_t i = 0; i < record->count; i++) {
        if (record->entry[i].kind == CUDASIM_COLLECTIVE) {
            sides.side = clock_grow(sides.side, sides.count, &sides.room, sizeof *sides.side);
            sides.side[sides.count++] = side_of(&record->entry[i], (int)i);
        }
    }
    if (sides.count > 0) {
        qsort(sides.side, (size_t)sides.count, sizeof *sides.side, by_key_and_entry);
    }
    return sides;
}

/* ---- seconds --------------------------------------------------------------------------------- */

static double link_rate(const CudasimRecord *record, const Machine *machine,
                        const MeetingSide *side, int count) {
    int node = record->entry[side->entry].device / machine->node;
    for (int i = 1; i < count; i++) {
        if (record->entry[side[i].entry].device / machine->node != node) {
            return machine->network < machine->link ? machine->network : machine->link;
        }
    }
    return machine->link;
}

/* How often the ring sends each byte past one rank: nccl-tests, doc/PERFORMANCE.md. */
static double ring_factor(CudasimCollective kind, double ranks) {
    switch (kind) {
    case CUDASIM_ALL_REDUCE:
        return 2 * (ranks - 1) / ranks;
    case CUDASIM_REDUCE_SCATTER:
    case CUDASIM_ALL_GATHER:
        return (ranks - 1) / ranks;
    default:
        return ranks > 1 ? 1 : 0;
    }
}

static double seconds_of(const CudasimRecord *record, const Machine *machine,
                         const MeetingSide *side, int count) {
    const CudasimEntry *e = &record->entry[side->entry];
    double factor = side->message ? 1 : ring_factor(e->collective, e->ranks);
    return factor * e->bytes / link_rate(record, machine, side, count);
}

/* ---- meetings -------------------------------------------------------------------------------- */

static bool incomplete(const CudasimRecord *record, const MeetingSide *side, int count) {
    const CudasimEntry *e = &record->entry[side->entry];
    unsigned long long call = side->call, communicator = side->communicator, id = e->id;
    if (side->message) {
        fprintf(stderr,
                "record: message %llu from rank %d to rank %d of communicator %llu, entry %llu, is "
                "never %s\n",
                call, side->from, side->to, communicator, id,
                e->collective == CUDASIM_SEND ? "received" : "sent");
    } else {
        fprintf(stderr,
                "record: %d of %d ranks come to call %llu of communicator %llu, entry %llu\n",
                count, e->ranks, call, communicator, id);
    }
    return false;
}

static bool agree(const CudasimRecord *record, const MeetingSide *side, int count) {
    const CudasimEntry *first = &record->entry[side->entry];
    for (int i = 1; i < count; i++) {
        const CudasimEntry *e = &record->entry[side[i].entry];
        bool same_kind = side->message == (e->collective != first->collective);
        if (e->bytes != first->bytes || !same_kind) {
            fprintf(stderr,
                    "record: entries %llu and %llu meet, but are not of one kind and size\n",
                    (unsigned long long)first->id, (unsigned long long)e->id);
            return false;
        }
    }
    return true;
}

static void add_meeting(Meetings *found, int *room, int count, double seconds) {
    found->meeting = clock_grow(found->meeting, found->count, room, sizeof *found->meeting);
    found->meeting[found->count++] =
        (Meeting){clock_new((size_t)count, sizeof(int)), count, count, seconds};
}

/* How many sides meet from the first of them on. */
static int count_of(const MeetingSide *side, int left) {
    int count = 1;
    while (count < left && by_key(side, side + count) == 0) {
        count++;
    }
    return count;
}

static void meet(const MeetingSide *side, int count, Meetings *found, int *room) {
    add_meeting(found, room, count, 0);
    for (int k = 0; k < count; k++) {
        found->meeting[found->count - 1].member[k] = side[k].entry;
    }
}

static bool meet_whole(const CudasimRecord *record, const Machine *machine,
                       const MeetingSides *sides, Meetings *found, int *room) {
    int count;
    for (int i = 0; i < sides->count; i += count) {
        const MeetingSide *side = &sides->side[i];
        count = count_of(side, sides->count - i);
        int wanted = side->message ? 2 : record->entry[side->entry].ranks;
        if (count != wanted) {
            return incomplete(record, side, count);
        }
        if (!agree(record, side, count)) {
            return false;
        }
        meet(side, count, found, room);
        found->meeting[found->count - 1].seconds = seconds_of(record, machine, side, count);
    }
    return true;
}

static void add_copies(const CudasimRecord *record, const Machine *machine, Meetings *found,
                       int *room) {
    for (size_t i = 0; i < record->count; i++) {
        const CudasimEntry *e = &record->entry[i];
        if (e->kind == CUDASIM_COPY && e->way == CUDASIM_BETWEEN_DEVICES) {
            bool near = e->device / machine->node == e->peer / machine->node;
            add_meeting(found, room, 1, e->bytes / (near ? machine->link : machine->network));
            found->meeting[found->count - 1].member[0] = (int)i;
        }
    }
}

/* For each entry, its meeting. */
static void index_meetings(Meetings *found, size_t entries) {
    found->of = clock_new(entries, sizeof *found->of);
    memset(found->of, -1, entries * sizeof *found->of);
    for (int m = 0; m < found->count; m++) {
        for (int k = 0; k < found->meeting[m].count; k++) {
            found->of[found->meeting[m].member[k]] = m;
        }
    }
}

bool meetings_find(const CudasimRecord *record, const Machine *machine, Meetings *found) {
    int room = 0;
    *found = (Meetings){0};
    MeetingSides sides = sides_of(record);
    bool good = meet_whole(record, machine, &sides, found, &room);
    free(sides.side);
    if (!good) {
        meetings_free(found);
        return false;
    }
    add_copies(record, machine, found, &room);
    index_meetings(found, record->count);
    return true;
}

void meetings_of_calls(const CudasimRecord *record, Meetings *found) {
    int room = 0;
    *found = (Meetings){0};
    MeetingSides sides = sides_of(record);
    for (int i = 0, count; i < sides.count; i += count) {
        count = count_of(&sides.side[i], sides.count - i);
        meet(&sides.side[i], count, found, &room);
    }
    free(sides.side);
    index_meetings(found, record->count);
}

void meetings_free(Meetings *meetings) {
    for (int m = 0; m < meetings->count; m++) {
        free(meetings->meeting[m].member);
    }
    free(meetings->meeting);
    free(meetings->of);
}
