/**
 * @file record.h
 * @brief The inside of cudasim, the record: who tells it what. See cudasim_record.h.
 * @ingroup cudasim
 *
 * Each of these is called only where sim_recording holds: without a record they cost a branch.
 */
#ifndef CUDASIM_RECORD_INSIDE_H
#define CUDASIM_RECORD_INSIDE_H

#include "queue.h"

/** Whether there is a record. */
extern bool sim_recording;

/** A part of sim_begin(): begins the record that CUDASIM_RECORD names, if it does. */
void record_open(void);

/** The program ends: writes it. False, and a line on stderr, if that cannot be done. */
bool record_close(void);

/** An operation has entered its queue. */
void record_operation(const Operation *operation);

/** A stream waits for an event: its queue's clock has the event's already. */
void record_stream_wait(int slot, const char *what, Place place);

/** The host waits for what has a place in the clock; its own clock does not have it yet. */
void record_host_wait(const Clock *clock);

/** The host launches a graph: up to record_graph_over(), what enters queues is a part of that. */
void record_graph(const char *what, Place place);

/** See record_graph(). */
void record_graph_over(void);

/** An operation has run: its traffic is known, if that is counted. */
void record_traffic(const Operation *operation);

/**
 * The last entry of a queue up to an operation.
 *
 * @param slot   of the queue
 * @param number of the operation
 * @param rank   in a dry run: whose entries are meant, for there queues may be of several ranks
 * @return its id; 0 if it came before the record
 */
uint64_t record_entry_at(int slot, uint64_t number, int rank);

/** The note for the next launch or product; an empty one for other work. */
Note record_note_for(const Work *work);

#endif
