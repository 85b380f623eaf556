/**
 * @file probe_events.h
 * @brief Events of a probe reach the judge as they happen.
 * @ingroup grader
 *
 * A count that a probe keeps lies in memory that the submission can write. An event has left the
 * process when event_tell() returns: nobody can take it back. check_events() reads them.
 */
#ifndef GRADER_PROBE_EVENTS_H
#define GRADER_PROBE_EVENTS_H

/**
 * Tells one event, a letter of the lab's protocol, by WIRE_EVENTS: a descriptor that is not open,
 * as in a debugger, takes none. Where it is not possible the probe ends.
 */
void event_tell(char event);

#endif
