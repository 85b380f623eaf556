/**
 * @file reckoning.h
 * @brief The state of makespan(): how far each entry, device and host of a record has come.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CLOCK_RECKONING_H
#define CUDASIM_CLOCK_RECKONING_H

#include "cudasim/clock/engine.h"
#include "cudasim/clock/events.h"
#include "cudasim/clock/followers.h"
#include "cudasim/clock/makespan.h"
#include "cudasim/clock/meeting.h"

enum {
    NONE = -1, /**< no entry */
    WAYS = 2   /**< of a bus */
};

/** Entries that wait for a place, the first come first: see Reckoning.next. */
typedef struct Line {
    int first; /**< entry, or NONE */
    int last;  /**< entry, if there is a first */
} Line;

/** One device. */
typedef struct DeviceState {
    KernelEngine engine; /**< the kernels that run */
    Line kernels;        /**< those that wait for it */
    Line copies[WAYS];   /**< copies that wait for each copy engine */
    bool copying[WAYS];  /**< each copy engine is at work */
    double copied[WAYS]; /**< for how long it has been [s] */
    bool sends;          /**< its link is in use that way */
    bool receives;       /**< and this way */
    double linked;       /**< for how long it has been [s] */
} DeviceState;

/** The host of a rank. */
typedef struct HostState {
    int next;         /**< entry; NONE: it has made all of its calls */
    bool calling;     /**< it makes calls now: an entry that is over need not wake it */
    double now;       /**< its time [s] */
    double launching; /**< of that, for launches [s] */
    double waiting;   /**< and for waits [s] */
} HostState;

/** A record on its way through a machine. Arrays are owned, and have one element for each entry,
 * unless it says otherwise. */
typedef struct Reckoning {
    const CudasimRecord *record; /**< borrowed */
    const Machine *machine;      /**< borrowed */
    Span *span;                  /**< when each runs */
    int *waits;                  /**< for how many things, its issue among them */
    double *ready;               /**< when what it has waited for so far was over [s] */
    int *next;  /**< the next entry in the line that it waits in; of the host's, the next call */
    int *parts; /**< what must end before it is over: its meeting, and the call of its group
                      before it */
    DeviceState *device; /**< (devices) */
    HostState *host;     /**< (hosts) */
    int devices;         /**< how many */
    int hosts;           /**< how many */
    Meetings meetings;   /**< which entries come together */
    Followers followers; /**< what waits for each */
    int *crowd;          /**< (crowd_count) meetings that are complete and want links */
    int crowd_count;     /**< how many */
    int crowd_room;      /**< of crowd */
    Events events;       /**< still to come */
    size_t over;         /**< entries */
} Reckoning;

/** Entry i of the record. */
static inline const CudasimEntry *reckoning_entry(const Reckoning *run, int i) {
    return &run->record->entry[i];
}

/** Whether the host itself does it: a wait, say. */
static inline bool reckoning_is_host(const CudasimEntry *e) {
    return e->stream < 0;
}

/** Whether both are calls of one group: these begin side by side, and end in their order. */
bool reckoning_one_group(const CudasimEntry *a, const CudasimEntry *b);

/**
 * Makes the state before anything has run; record and machine are set, all else is 0.
 *
 * @return false, and a line on stderr, if a collective lacks a rank, or a message an end
 */
bool reckoning_begin(Reckoning *run);

/** Frees what it has. */
void reckoning_end(Reckoning *run);

#endif
