/**
 * @file fill.h
 * @brief The inside of cudasim, memory that work of a stream writes from one end to the other.
 * @ingroup cudasim
 */
#ifndef CUDASIM_FILL_H
#define CUDASIM_FILL_H

#include "device.h"

/** Whether a device can write there: its memory and variables, and what the host shares with it. */
bool fill_reaches(const void *to);

/** Whether that is memory of the host's too: pinned, registered or managed. */
bool fill_is_shared(const void *to);

/**
 * Whether memory that fill_reaches() holds the bytes and is alive; the stream's slot uses it from
 * now on. Else what is wrong is reported.
 *
 * @param call  the function that was called
 * @param end   its parameter: "destination"
 * @param to    where the bytes begin
 * @param bytes how many
 * @param slot  of the stream
 * @param place of the call
 */
bool fill_holds(const char *call, const char *end, const void *to, size_t bytes, int slot,
                Place place);

/** Within an operation: opens the memory, and in check mode checks and notes that it is written. */
void fill_touch(void *to, size_t bytes);

#endif
