/**
 * @file spin.h
 * @brief The inside of cudasim: a lock for a few instructions.
 * @ingroup cudasim
 *
 * For what a program's malloc() and free() do within kernels and beside the runtime, which may be
 * busy: it calls nothing. A thread that waits keeps its core, so what takes long does not belong
 * between both calls.
 */
#ifndef CUDASIM_SPIN_H
#define CUDASIM_SPIN_H

/** Waits until `busy` is 0, and sets it. It begins as 0. */
static inline void spin_lock(int *busy) {
    while (__atomic_exchange_n(busy, 1, __ATOMIC_ACQUIRE)) {
    }
}

/** Sets `busy` to 0 again. */
static inline void spin_unlock(int *busy) {
    __atomic_store_n(busy, 0, __ATOMIC_RELEASE);
}

#endif
