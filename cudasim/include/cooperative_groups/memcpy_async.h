/**
 * @file memcpy_async.h
 * @brief Copies to shared memory that a group does together, and goes on beside them.
 * @ingroup cudasim
 *
 * Each thread of the group begins its share of the bytes; wait() is its own wait and the group's
 * barrier. Copies in other directions are over when the call returns.
 */
#ifndef CUDASIM_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H
#define CUDASIM_COOPERATIVE_GROUPS_MEMCPY_ASYNC_H

#include "../cooperative_groups.h"

/** @cond */
CUDASIM_SIDES_BEGIN
namespace cooperative_groups {

/* Bytes that are copied as one: up to 16, as far as both pointers are aligned. */
CUDASIM_DEVICE size_t cudasim_piece(const void *to, const void *from) {
    size_t bits = (size_t)(uintptr_t)to | (size_t)(uintptr_t)from | 16;
    return bits & -bits;
}

CUDASIM_DEVICE void cudasim_copy_now(char *to, const char *from, size_t bytes, const char *file,
                                     int line) {
    char value[16];
    cudasim_before_access(from, bytes, false, file, line);
    __builtin_memcpy(value, from, bytes);
    cudasim_before_access(to, bytes, true, file, line);
    __builtin_memcpy(to, value, bytes);
}

template <class Group>
CUDASIM_DEVICE void cudasim_memcpy_async(const Group &group, void *to, const void *from,
                                         size_t bytes, const char *file, int line) {
    size_t piece = cudasim_piece(to, from);
    bool later = cudasim_copy_is_async(to, from, file, line);
    for (size_t at = group.thread_rank() * piece; at < bytes; at += group.num_threads() * piece) {
        size_t n = bytes - at < piece ? bytes - at : piece;
        if (later) {
            cudasim_copy_piece((char *)to + at, (const char *)from + at, n, 0, file, line);
        } else {
            cudasim_copy_now((char *)to + at, (const char *)from + at, n, file, line);
        }
    }
    cudasim_copy_commit(file, line);
}

/** Begins a copy of `bytes`, as a batch. */
template <class Group, class Type, class Source>
CUDASIM_DEVICE void memcpy_async(const Group &group, Type *to, const Source *from, size_t bytes,
                                 CUDASIM_CALLER) {
    cudasim_memcpy_async(group, to, from, bytes, file, line);
}

/** The same in elements: as many as both sides have. */
template <class Group, class Type>
CUDASIM_DEVICE void memcpy_async(const Group &group, Type *to, size_t room, const Type *from,
                                 size_t count, CUDASIM_CALLER) {
    cudasim_memcpy_async(group, to, from, (count < room ? count : room) * sizeof *to, file, line);
}

/** Waits for all of the group's copies. */
template <class Group> CUDASIM_DEVICE void wait(const Group &group, CUDASIM_CALLER) {
    cudasim_copy_wait(0, file, line);
    group.sync(file, line);
}

/** Waits for all but the last N. */
template <unsigned Count, class Group>
CUDASIM_DEVICE void wait_prior(const Group &group, CUDASIM_CALLER) {
    cudasim_copy_wait(Count, file, line);
    group.sync(file, line);
}

} // namespace cooperative_groups
CUDASIM_SIDES_END
/** @endcond */

#endif
