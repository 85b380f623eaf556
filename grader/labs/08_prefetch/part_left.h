/**
 * @file part_left.h
 * @brief Bytes of the heap that are still in use after the submission has opened and closed.
 * @ingroup grader
 */
#ifndef GRADER_LABS_08_PREFETCH_PART_LEFT_H
#define GRADER_LABS_08_PREFETCH_PART_LEFT_H

#include <stdint.h>

/** Freed memory is overwritten with it (mallopt()): a handle that is read there is none. */
enum { PERTURBED = 0xa5 };

/**
 * The least that one of several calls adds to the heap: the bytes that each of them leaves.
 *
 * A table of the simulator grows in some of them, and it keeps the last events that were destroyed.
 * Not to be recorded, for a record grows. Streams and events that stay are another sentence's.
 *
 * @param open_and_close opens something of the submission, and closes it
 * @param context        its argument
 * @return bytes; 0 where streams or events stay
 */
uint64_t left_by_each(void (*open_and_close)(void *context), void *context);

#endif
