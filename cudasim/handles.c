#include "sim.h"

/* Which handles exist: events, as a program holds them. The memory of one that was destroyed rests
   for a while, so that its address is not at once another's. */

enum { RESTING = 1024 };

static void **live;
static int live_count, live_room;
static struct {
    void *handle;
    Place ended;
} resting[RESTING];
static unsigned ended_count;

void sim_handle_made(void *handle) {
    if (live_count == live_room) {
        live_room = 2 * live_room + 64;
        live = sim_realloc(live, (size_t)live_room * sizeof *live);
    }
    live[live_count++] = handle;
}

/* The newest first: a loop that makes and destroys one finds it at once. */
static int index_of(const void *handle) {
    int i = live_count - 1;
    while (i >= 0 && live[i] != handle) {
        i--;
    }
    return i;
}

void *sim_handle_ended(void *handle, Place place) {
    live[index_of(handle)] = live[--live_count];
    unsigned next = ended_count++ % RESTING;
    void *oldest = resting[next].handle;
    resting[next].handle = handle;
    resting[next].ended = place;
    return oldest;
}

bool sim_handle_exists(const void *handle, const char *kind, const char *what, Place place) {
    if (index_of(handle) >= 0) {
        return true;
    }
    for (int i = 0; i < RESTING; i++) {
        Place ended = resting[i].ended;
        if (handle != NULL && resting[i].handle == handle) {
            sim_report("use after free", "%s at %s:%d: the %s was destroyed before", what,
                       sim_file(place), place.line, kind);
            sim_detail("cuda%c%sDestroy at %s:%d", kind[0] - 'a' + 'A', kind + 1, sim_file(ended),
                       ended.line);
            return false;
        }
    }
    sim_report("use after free", "%s at %s:%d: there is no such %s; was it ever created?", what,
               sim_file(place), place.line, kind);
    return false;
}
