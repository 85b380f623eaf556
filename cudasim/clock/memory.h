/**
 * @file memory.h
 * @brief Memory of the host for what reads a record; without it the program ends.
 * @ingroup cudasim
 */
#ifndef CUDASIM_CLOCK_MEMORY_H
#define CUDASIM_CLOCK_MEMORY_H

#include <stddef.h>

/** `count` elements of zeros, to be given to free(). */
void *clock_new(size_t count, size_t size);

/** The same array, or a larger one, with room for an element after the first `count`. */
void *clock_grow(void *array, int count, int *room, size_t size);

#endif
