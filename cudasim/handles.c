#include "cudasim_left.h"
#include "operation.h"

/* Which handles exist: streams, events, graphs, communicators and those of cuBLAS, as a program
   holds them. One that was destroyed rests for a while, so that its address is not at once
   another's. */

enum { RESTING = 1024 };

typedef struct Handle {
    void *handle;
    const char *call; /* that made it */
    Place made;
} Handle;

static Handle *live;
static int live_count, live_room;
static struct {
    void *handle;
    const char *call; /* that destroyed it */
    Place ended;
    void (*release)(void *);
} resting[RESTING];
static unsigned ended_count;

void sim_handle_made(void *handle, const char *call, Place place) {
    if (live_count == live_room) {
        live_room = 2 * live_room + 64;
        live = sim_realloc(live, (size_t)live_room * sizeof *live);
    }
    live[live_count++] = (Handle){handle, call, place};
}

/* The newest first: a loop that makes and destroys one finds it at once. */
static int index_of(const void *handle) {
    int i = live_count - 1;
    while (i >= 0 && live[i].handle != handle) {
        i--;
    }
    return i;
}

void sim_handle_ended(void *handle, const char *call, Place place, void (*release)(void *)) {
    int i = index_of(handle);
    live[i] = live[--live_count];
    unsigned next = ended_count++ % RESTING;
    if (resting[next].handle != NULL) {
        resting[next].release(resting[next].handle);
    }
    resting[next].handle = handle;
    resting[next].call = call;
    resting[next].ended = place;
    resting[next].release = release;
}

CudasimLeft cudasim_left(void) {
    return (CudasimLeft){live_count, sim_pinned()};
}

void sim_handles_left(void) {
    for (int i = 0; i < live_count; i++) {
        leaks_add(live[i].call, live[i].made, 0);
    }
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
            sim_detail("%s at %s:%d", resting[i].call, sim_file(ended), ended.line);
            return false;
        }
    }
    sim_report("use after free", "%s at %s:%d: there is no such %s; was it ever created?", what,
               sim_file(place), place.line, kind);
    return false;
}
