/**
 * @file probe_room.h
 * @brief A closed room in the probe: tensors come from the arena, and there is no other place.
 * @ingroup grader
 *
 *     room_prepare();
 *     ... device, model, a pass of each shape: all that libraries keep is taken, and touched ...
 *     room_close(slack);
 *     ... the submission ...
 *
 * After room_close() the kernel refuses every call that gives, takes, moves or opens memory, or
 * opens a file: a filter on top of the sandbox's, which nobody can take off.
 * So what was mapped stays where it is and as it is: memory cannot be given back to make room for
 * other, and code cannot be written on.
 */
#ifndef GRADER_PROBE_ROOM_H
#define GRADER_PROBE_ROOM_H

#include <stddef.h>

/** From here on malloc() gives nothing back to the system, for it could not ask for it again. */
void room_prepare(void);

/**
 * Closes the room, for all threads. Within a debugger it stays open.
 *
 * @param slack bytes in one piece that malloc() shall have at hand
 */
void room_close(size_t slack);

/**
 * Wipes the calling thread's stack below its caller: it grows without a call, so nobody can close
 * it. To be called between two calls of the submission, so that nothing is kept there.
 */
void room_wipe_stack(void);

#endif
