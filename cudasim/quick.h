/**
 * @file quick.h
 * @brief The usual access, which is right: looked at in place, in a few instructions.
 * @ingroup cudasim
 *
 * Nearly all loads and stores are of memory that was written before, by a thread that is certainly
 * ordered before this thread. Then there is nothing to report, and this is soon known. All others
 * are left to check_access(), as if nobody had looked: both come to the same.
 *
 * A byte is only ever marked as written within an allocation or a variable that exists (shadow.c),
 * and its mark goes with it. So that mark says too that an access is within bounds.
 *
 * Most of these are reads of a word that others of the block have read since its last barrier. Its
 * cell then stays as it is, and says so in two comparisons. It says too that the word was written:
 * bytes lose their mark only when their cell is emptied.
 */
#ifndef CUDASIM_QUICK_H
#define CUDASIM_QUICK_H

#include <stddef.h>

#include "race.h"

static const uint32_t NO_BLOCK = UINT32_MAX; /**< of no cell, not even of an unused one */

/** The state of a launch, as the quick look needs it. */
typedef struct Quick {
    bool checks;          /**< the launch runs for its results, and nobody counts its accesses */
    bool disguised;       /**< it runs again: see replay.c */
    uint32_t first_block; /**< blocks with lower numbers are ordered before it; 0: not known */
    const char *device;   /**< where device memory begins */
    size_t device_bytes;  /**< its length */
    unsigned char *bits;  /**< of device memory: see shadow.c */
    Cell *cells;          /**< of device memory: see race.c */
    const char *image;    /**< where the program's code begins: see site_of_code() */
    uint32_t block;       /**< that runs; NO_BLOCK: its thread has not read what others have */
    uint64_t by_many;     /**< state of a cell that threads of several warps of it have read */
    uint64_t by_warp;     /**< the same for threads of the running thread's warp */
    unsigned long long looked_at; /**< accesses that were found right here */
} Quick;
extern Quick quick; /**< made by quick_begin() */

/** The fields of a reader from `barriers` on, as a number. */
static inline uint64_t quick_fields(const Party *readers) {
    uint64_t fields;
    _Static_assert(sizeof *readers - offsetof(Party, barriers) == sizeof fields, "all fields");
    memcpy(&fields, &readers->barriers, sizeof fields);
    return fields;
}

/** All that a cell remembers of its readers but their block, line and rival, as a number. */
static inline uint64_t quick_state(const Party *readers) {
    return quick_fields(readers) & ~quick_fields(&(Party){.bytes = RIVAL});
}

/** The same without the count of meetings, which says nothing of readers in several warps. */
static inline uint64_t quick_state_of_many(const Party *readers) {
    return quick_state(readers) & ~quick_fields(&(Party){.meetings = 0xFFFF});
}

/** Whether the cells of a read say that another by this thread changes nothing. */
static inline bool quick_known(const Cell *cell, size_t bytes) {
    for (size_t i = 0; i < (bytes + 3) / 4; i++) {
        const Party *readers = &cell[i].reader;
        if (readers->block != quick.block || (quick_state_of_many(readers) != quick.by_many &&
                                              quick_state(readers) != quick.by_warp)) {
            return false;
        }
    }
    return true;
}

/**
 * Whether a read is one of many of a word of device or shared memory, and changes nothing.
 *
 * @param worker the running thread's
 * @param p      address
 * @param bytes  1, 2, 4, 8 or 16
 */
static inline __attribute__((always_inline)) bool quick_repeated(const Worker *worker,
                                                                 const char *p, size_t bytes) {
    size_t n = (size_t)(p - quick.device);
    bool shared = n >= quick.device_bytes;
    const Cell *cells = quick.cells;
    if (shared) {
        n = (size_t)(p - worker->shared);
        cells = worker->race_cells;
        if (p < worker->shared || p >= worker->dynamic_end || cells == NULL) {
            return false;
        }
    }
    if ((uintptr_t)p % bytes != 0 || !quick_known(&cells[n / 4], bytes)) {
        return false;
    }
    quick.looked_at++;
    if (!shared && sim_settings.events >= 0) {
        share_moved(bytes);
    }
    return true;
}

/** Whether all bits of the bytes at number n are set; the bytes are not on both sides of 16. */
static inline bool quick_written(const unsigned char *bits, size_t n, size_t bytes) {
    uint16_t word;
    memcpy(&word, &bits[n / 8], bytes > 8 ? 2 : 1);
    unsigned all = (1u << bytes) - 1;
    return ((bytes > 8 ? word : word & 0xFFu) >> n % 8 & all) == all;
}

/** Whether an earlier access is certainly ordered before this one. */
static inline bool quick_ordered(const Party *before, const Party *now, bool shared) {
    if (before->block != now->block) {
        return shared || before->block < quick.first_block;
    }
    return before->thread == now->thread || before->barriers != now->barriers;
}

/** Whether the cell's reader is of another block, and not certainly ordered before now. */
static inline bool quick_rival(const Party *reader, const Party *now, bool shared) {
    return !shared && reader->block != 0 && reader->block != now->block &&
           reader->block >= quick.first_block;
}

/** Remembers a read as race.c does; false if that is not as simple. */
static inline bool quick_read(Cell *cell, const Party *now, bool shared) {
    const Party *writer = &cell->writer;
    Party *reader = &cell->reader;
    if (!quick_ordered(writer, now, shared) || reader->atomic != PLAIN) {
        return false;
    }
    if (race_reads_back(writer, now)) {
        return true;
    }
    bool settled = writer->block != now->block || writer->barriers != now->barriers;
    uint8_t bytes = settled ? now->bytes | SETTLED : now->bytes;
    bool same_warp = race_warp(reader->thread) == now->thread / WARP;
    if (quick_rival(reader, now, shared)) {
        if (quick.first_block == 0) {
            return false;
        }
        race_keep_rival(cell);
        bytes |= RIVAL;
    } else if (reader->block == now->block) {
        bytes |= reader->bytes & RIVAL;
    }
    if (reader->block != now->block || reader->thread == now->thread ||
        reader->barriers != now->barriers || (same_warp && reader->meetings != now->meetings)) {
        *reader = *now;
        reader->bytes = bytes;
        if (now->bytes != 0xF) {
            race_own(cell, now, 0);
            reader->bytes |= OWNED;
        }
        return true;
    }
    if (sim_worker->fenced_block == now->block) {
        return false;
    }
    if (reader->bytes & OWNED) {
        race_own(cell, now, reader->bytes);
    }
    reader->thread = same_warp ? (uint16_t)(WARP_OF | now->thread / WARP) : MANY;
    reader->meetings = now->meetings;
    reader->bytes |= bytes;
    if (quick.block == NO_BLOCK) {
        quick_know();
    }
    return true;
}

/** Remembers a write as race.c does; false if that is not as simple. */
static inline bool quick_write(Cell *cell, const Party *now, bool shared) {
    const Party *reader = &cell->reader;
    if (!quick_ordered(&cell->writer, now, shared) || !quick_ordered(reader, now, shared) ||
        (reader->bytes & RIVAL && reader->block == now->block)) {
        return false;
    }
    cell->writer = *now;
    cell->reader = (Party){0};
    return true;
}

/** Whether p is on the running thread's stack, or threadIdx or its like. */
static inline bool quick_own(const Worker *worker, const char *p) {
    return (size_t)(p - worker->fiber->stack) < STACK_BYTES ||
           (uintptr_t)p - ((uintptr_t)&threadIdx - THREAD_LOCALS) < 2 * THREAD_LOCALS;
}

/** The same as quick_look() for a launch's second run, in which accesses are only announced. */
static inline __attribute__((always_inline)) bool quick_show(const char *p, size_t bytes) {
    const Worker *worker = sim_worker;
    size_t n = (size_t)(p - quick.device);
    if (n >= quick.device_bytes) {
        return (p >= worker->shared && p < worker->dynamic_end) || quick_own(worker, p);
    }
    if ((uintptr_t)p % bytes != 0 || !quick_written(quick.bits, n, bytes)) {
        return false;
    }
    replay_show((char *)(uintptr_t)p, bytes);
    return true;
}

/**
 * Whether an access is one that needs no more attention.
 *
 * @param p     address
 * @param bytes 1, 2, 4, 8 or 16
 * @param write a store
 * @param pc    where
 */
static inline __attribute__((always_inline)) bool quick_look(const char *p, size_t bytes,
                                                             bool write, const void *pc) {
    Worker *worker = sim_worker;
    size_t n = (size_t)(p - quick.device);
    bool shared = n >= quick.device_bytes;
    const unsigned char *bits = quick.bits;
    Cell *cells = quick.cells;
    if (shared) {
        if (p < worker->shared || p >= worker->dynamic_end) {
            return quick_own(worker, p);
        }
        n = (size_t)(p - worker->shared);
        bits = worker->written_bits;
        cells = worker->race_cells;
    }
    if ((uintptr_t)p % bytes != 0 || bits == NULL || cells == NULL) {
        return false;
    }
    if (!quick.checks || race_unsettled || !quick_written(bits, n, bytes)) {
        return false;
    }
    unsigned thread = (unsigned)worker->fiber->thread;
    Party now = {.block = worker->block,
                 .site = (Site)((const char *)pc - quick.image) & 0x7FFFFFFF,
                 .barriers = (uint16_t)worker->barriers,
                 .meetings = worker->meetings[thread / WARP],
                 .thread = (uint16_t)thread,
                 .bytes = bytes < 4 ? (uint8_t)(((1u << bytes) - 1) << (uintptr_t)p % 4) : 0xF,
                 .atomic = PLAIN};
    for (size_t i = 0; i < (bytes + 3) / 4; i++) {
        Cell *cell = &cells[n / 4 + i];
        if (write ? !quick_write(cell, &now, shared) : !quick_read(cell, &now, shared)) {
            return false;
        }
    }
    quick.looked_at++;
    if (write && !shared) {
        replay_written(p, bytes);
    }
    if (!shared && sim_settings.events >= 0) {
        share_moved(bytes);
    }
    return true;
}

#endif
