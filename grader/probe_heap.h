/**
 * @file probe_heap.h
 * @brief Probes that ask whether a call gives back what it takes of the heap of the host.
 * @ingroup grader
 *
 * All threads of the program share the heap: nothing else may run meanwhile.
 */
#ifndef GRADER_PROBE_HEAP_H
#define GRADER_PROBE_HEAP_H

#include <stdint.h>

/** Bytes that are in use. */
uint64_t heap_bytes(void);

/** How many more are in use than `before`; 0 where there are fewer. */
uint64_t heap_since(uint64_t before);

/** Bytes that each of many calls leaves there, in the mean; the first ones count nowhere. 0 where a
    round of calls leaves nothing. */
uint64_t heap_left(void (*call)(void *context), void *context);

#endif
