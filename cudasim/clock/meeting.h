/**
 * @file meeting.h
 * @brief Entries of several ranks that go on together: collectives, and messages.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CLOCK_MEETING_H
#define CUDASIM_CLOCK_MEETING_H

#include "cudasim/clock/machine.h"

/** A user of links: a collective, one message, or a copy between devices. */
typedef struct Meeting {
    int *member;    /**< (count) entries that must be ready before it begins */
    int count;      /**< how many */
    int missing;    /**< that are not ready yet */
    double seconds; /**< that it takes once it has begun */
} Meeting;

/** All of a record. */
typedef struct Meetings {
    Meeting *meeting; /**< (count) */
    int count;        /**< how many */
    int *of;          /**< (entries) of each its meeting; -1: none */
} Meetings;

/**
 * Finds who meets whom: by communicator and call, of a message also by sender and receiver.
 *
 * @return false, and a line on stderr, if one is missing or they differ
 */
bool meetings_find(const CudasimRecord *record, const Machine *machine, Meetings *found);

/**
 * The same, where a record may still grow: those who have come meet, and take no time. Copies are
 * none.
 */
void meetings_of_calls(const CudasimRecord *record, Meetings *found);

/** Frees what was found. */
void meetings_free(Meetings *meetings);

#endif
