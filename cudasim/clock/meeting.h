/**
 * @file meeting.h
 * @brief Entries of several ranks that go on together: collectives, and messages.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CLOCK_MEETING_H
#define CUDASIM_CLOCK_MEETING_H

#include "cudasim/clock/machine.h"

/** What takes links: a collective, one message, or a copy between devices. */
typedef struct Meeting {
    int *member;    /**< (count) entries that must be ready before it begins; of a message the sender
                       first */
    int count;      /**< how many */
    int missing;    /**< that are not ready yet */
    double seconds; /**< that it takes once it has begun */
} Meeting;

/** All of a record. */
typedef struct Meetings {
    Meeting *meeting; /**< (count) */
    int count;        /**< how many */
    int *of;          /**< for each entry, first[i] to first[i + 1] here: its meetings */
    int *first;       /**< (entries + 1) see of */
} Meetings;

/**
 * Finds who meets whom: collectives by communicator and call, and of the messages from one rank to
 * another the k-th that is sent and the k-th that is received.
 *
 * @return false, and a line on stderr, if one is missing or they differ
 */
bool meetings_find(const CudasimRecord *record, const Machine *machine, Meetings *found);

/** Frees what was found. */
void meetings_free(Meetings *meetings);

#endif
