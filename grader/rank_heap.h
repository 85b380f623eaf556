/**
 * @file rank_heap.h
 * @brief malloc() for a hand-in that runs as several ranks.
 * @ingroup grader
 *
 * Where lab.json says "ranks", the calls of malloc(), calloc() and free() in the hand-in's objects
 * are renamed to these (grader/submission.c). Each block is pages of its own, which other ranks
 * cannot reach. Tensors do not belong here: they come from memory_alloc(), where they are counted.
 * So where there are ranks, each has at most RANK_HEAP bytes; what is more is reported as out of
 * memory, and ends the program. A block ends where its pages end, to 16 bytes: who writes beyond it
 * crashes there.
 */
#ifndef GRADER_RANK_HEAP_H
#define GRADER_RANK_HEAP_H

#include <stddef.h>

enum {
    RANK_HEAP = 256 << 10, /**< bytes of a rank, in whole pages */
    RANK_HEAP_FRESH = 0x5a /**< each byte of what malloc() gives, until it is written */
};

/** malloc(). What it gives is not zero by luck: who counts on that is wrong at once. */
void *rank_malloc(size_t bytes);

/** calloc() */
void *rank_calloc(size_t count, size_t bytes);

/** free() */
void rank_free(void *data);

/** Bytes of the rank that runs, in whole pages; 0 where there are no ranks. */
size_t rank_heap_used(void);

#endif
