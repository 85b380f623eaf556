/* Who meets whom. The contract is in meeting.h. */
#include "cudasim/clock/meeting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudasim/clock/memory.h"

/* One side of a meeting: entries that have the same key meet. */
typedef struct Side {
    uint64_t communicator, call; /* of a message, call is from * 2^32 + to */
    uint64_t turn;               /* of a message: its number among those of its key */
    bool message, receives;
    int entry, place; /* place: in the order of the record */
    double bytes;
} Side;

typedef struct Sides {
    Side *side;
    int count, room;
} Sides;

static void add(Sides *sides, Side side) {
    sides->side = clock_grow(sides->side, sides->count, &sides->room, sizeof side);
    side.place = sides->count;
    sides->side[sides->count++] = side;
}

static void add_transfers(Sides *sides, const CudasimEntry *e, int i) {
    for (int k = 0; k < e->transfer_count; k++) {
        const CudasimTransfer *t = &e->transfers[k];
        uint64_t own = (uint64_t)e->comm_rank, peer = (uint64_t)t->peer;
        add(sides, (Side){.communicator = e->communicator,
                          .call = t->send ? own << 32 | peer : peer << 32 | own,
                          .message = true,
                          .receives = !t->send,
                          .entry = i,
                          .bytes = t->bytes});
    }
}

static Sides sides_of(const CudasimRecord *record) {
    Sides sides = {0};
    for (size_t i = 0; i < record->count; i++) {
        const CudasimEntry *e = &record->entry[i];
        if (e->kind == CUDASIM_COLLECTIVE) {
            add(&sides, (Side){.communicator = e->communicator,
                               .call = e->call,
                               .entry = (int)i,
                               .bytes = e->bytes});
        } else if (e->kind == CUDASIM_TRANSFER) {
            add_transfers(&sides, e, (int)i);
        }
    }
    return sides;
}

/* ---- sorted, those that meet stand side by side ---------------------------------------------- */

static int order(uint64_t a, uint64_t b) {
    return (a > b) - (a < b);
}

static int by_key(const Side *a, const Side *b) {
    int sign = order(a->message, b->message);
    sign = sign != 0 ? sign : order(a->communicator, b->communicator);
    sign = sign != 0 ? sign : order(a->call, b->call);
    return sign != 0 ? sign : order(a->turn, b->turn);
}

static int by_key_and_side(const void *a, const void *b) {
    const Side *x = a, *y = b;
    int sign = by_key(x, y);
    sign = sign != 0 ? sign : order(x->receives, y->receives);
    return sign != 0 ? sign : order((uint64_t)x->place, (uint64_t)y->place);
}

static void sort(Sides *sides) {
    if (sides->count > 0) {
        qsort(sides->side, (size_t)sides->count, sizeof *sides->side, by_key_and_side);
    }
}

/* Messages from one rank to another are counted on both sides. */
static void number_messages(Sides *sides) {
    sort(sides);
    uint64_t turn = 0;
    for (int i = 0; i < sides->count; i++) {
        Side *side = &sides->side[i], *before = side - 1;
        bool same = i > 0 && side->message && before->message &&
                    side->communicator == before->communicator && side->call == before->call &&
                    side->receives == before->receives;
        turn = same ? turn + 1 : 0;
        side->turn = turn;
    }
    sort(sides);
}

/* ---- seconds --------------------------------------------------------------------------------- */

static double link_rate(const CudasimRecord *record, const Machine *machine, const Side *side,
                        int count) {
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

static double seconds_of(const CudasimRecord *record, const Machine *machine, const Side *side,
                         int count) {
    const CudasimEntry *e = &record->entry[side->entry];
    double factor = side->message ? 1 : ring_factor(e->collective, e->ranks);
    return factor * side->bytes / link_rate(record, machine, side, count);
}

/* ---- meetings -------------------------------------------------------------------------------- */

static bool incomplete(const CudasimRecord *record, const Side *side, int count) {
    const CudasimEntry *e = &record->entry[side->entry];
    if (side->message) {
        fprintf(stderr,
                "record: message %llu from rank %llu to rank %llu of communicator %llu, entry "
                "%llu, is never %s\n",
                (unsigned long long)side->turn + 1, (unsigned long long)(side->call >> 32),
                (unsigned long long)(side->call & 0xFFFFFFFF),
                (unsigned long long)side->communicator, (unsigned long long)e->id,
                side->receives ? "sent" : "received");
    } else {
        fprintf(stderr,
                "record: %d of %d ranks come to call %llu of communicator %llu, entry %llu\n",
                count, e->ranks, (unsigned long long)side->call,
                (unsigned long long)side->communicator, (unsigned long long)e->id);
    }
    return false;
}

static bool agree(const CudasimRecord *record, const Side *side, int count) {
    const CudasimEntry *first = &record->entry[side->entry];
    for (int i = 1; i < count; i++) {
        const CudasimEntry *e = &record->entry[side[i].entry];
        if (side[i].bytes != side->bytes || (!side->message && e->collective != first->collective)) {
            fprintf(stderr, "record: entries %llu and %llu meet, but are not of one kind and size\n",
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

static bool meet(const CudasimRecord *record, const Machine *machine, const Sides *sides,
                 Meetings *found, int *room) {
    int count;
    for (int i = 0; i < sides->count; i += count) {
        const Side *side = &sides->side[i];
        for (count = 1; i + count < sides->count && by_key(side, side + count) == 0;) {
            count++;
        }
        int wanted = side->message ? 2 : record->entry[side->entry].ranks;
        if (count != wanted) {
            return incomplete(record, side, count);
        }
        if (!agree(record, side, count)) {
            return false;
        }
        add_meeting(found, room, count, seconds_of(record, machine, side, count));
        for (int k = 0; k < count; k++) {
            found->meeting[found->count - 1].member[k] = side[k].entry;
        }
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

/* For each entry, its meetings. */
static void index_meetings(Meetings *found, size_t entries) {
    found->first = clock_new(entries + 2, sizeof *found->first);
    int total = 0;
    for (int m = 0; m < found->count; m++) {
        for (int k = 0; k < found->meeting[m].count; k++) {
            found->first[found->meeting[m].member[k] + 2]++;
            total++;
        }
    }
    for (size_t i = 2; i < entries + 2; i++) {
        found->first[i] += found->first[i - 1];
    }
    found->of = clock_new((size_t)total, sizeof *found->of);
    for (int m = 0; m < found->count; m++) {
        for (int k = 0; k < found->meeting[m].count; k++) {
            found->of[found->first[found->meeting[m].member[k] + 1]++] = m;
        }
    }
}

bool meetings_find(const CudasimRecord *record, const Machine *machine, Meetings *found) {
    int room = 0;
    *found = (Meetings){0};
    Sides sides = sides_of(record);
    number_messages(&sides);
    bool good = meet(record, machine, &sides, found, &room);
    free(sides.side);
    if (!good) {
        meetings_free(found);
        return false;
    }
    add_copies(record, machine, found, &room);
    index_meetings(found, record->count);
    return true;
}

void meetings_free(Meetings *meetings) {
    for (int m = 0; m < meetings->count; m++) {
        free(meetings->meeting[m].member);
    }
    free(meetings->meeting);
    free(meetings->of);
    free(meetings->first);
}
