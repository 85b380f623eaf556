/**
 * @file host_heap.h
 * @brief The inside of cudasim, memory of the host: what malloc() has given, and variables.
 * @ingroup cudasim
 */
#ifndef CUDASIM_HOST_HEAP_H
#define CUDASIM_HOST_HEAP_H

#include "sim.h"

/** The program's own code has got memory from malloc() or new; p may be NULL. @return p */
void *host_heap_took(void *p, size_t bytes);

/** It is about to give memory back. */
void host_heap_gives_back(void *p);

/** Bytes from p on in the static or global variable where it lies; SIZE_MAX where none is known. */
size_t host_variable_room(const char *p);

/** Bytes from p on in a block of malloc() or new, or such a variable; SIZE_MAX: none is known. */
size_t host_room(const void *p);

/** Whether memory of the host has room for one end of a copy, as far as is known; else a report. */
bool host_holds(const char *call, const char *end, const void *p, size_t bytes, Place place);

#endif
