/**
 * @file host_heap.h
 * @brief The inside of cudasim, memory of the host: how much malloc() has given to the program.
 * @ingroup cudasim
 */
#ifndef CUDASIM_HOST_HEAP_H
#define CUDASIM_HOST_HEAP_H

#include "sim.h"

/** The program's own code has got memory from malloc() or new; p may be NULL. @return p */
void *host_heap_took(void *p, size_t bytes);

/** It is about to give memory back. */
void host_heap_gives_back(void *p);

/** Whether memory of the host has room for one end of a copy, as far as is known; else a report. */
bool host_heap_holds(const char *call, const char *end, const void *p, size_t bytes, Place place);

#endif
