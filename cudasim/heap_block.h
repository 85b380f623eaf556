/**
 * @file heap_block.h
 * @brief The inside of cudasim: how large a block of the host's malloc() is.
 * @ingroup cudasim
 */
#ifndef CUDASIM_HEAP_BLOCK_H
#define CUDASIM_HEAP_BLOCK_H

#ifdef __APPLE__
#include <malloc/malloc.h>
#else
#include <malloc.h>
#endif
#include <stdint.h>

/** Bytes that a live block of malloc() has room for: at least those that were asked for. */
static inline size_t block_room(const void *block) {
    void *p = (void *)(uintptr_t)block;
#ifdef __APPLE__
    return malloc_size(p);
#else
    return malloc_usable_size(p);
#endif
}

#endif
